"""What Spark computes itself: the columns workers need, and what users get."""
