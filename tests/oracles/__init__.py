"""What docs/semantics says, computed by brute force in plain Python. Nothing here imports situ."""
