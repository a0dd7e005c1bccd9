"""What a bucket of a stream does with its rows; knows nothing of Spark."""
