"""Row patterns: sequences of rows, matched exactly (ROW)."""
