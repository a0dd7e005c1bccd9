"""Queries of situations in which symbols are row patterns (SEM 17)."""
