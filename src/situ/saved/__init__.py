"""State as bytes: written, read back, and checked."""
