"""What a task of a batch does with its rows; knows nothing of Spark."""
