"""Operator kinds: each answers one kind of question."""
