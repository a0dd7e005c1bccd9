"""How fast row patterns are found, in ratios to summing the price column in the same process."""
