"""The engine carried by Spark, its tasks first without and then with a session."""
