"""Files that Spark has listed."""
