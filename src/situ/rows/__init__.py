"""A table becomes rows: partition codes, instants, one mask, order."""
