"""Queries about situations: from text to a checked query, and back."""
