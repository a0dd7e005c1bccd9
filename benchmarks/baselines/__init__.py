"""The papers' own algorithms, compiled, over the same input arrays as situ's engine."""
