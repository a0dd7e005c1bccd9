"""Carriers: what brings rows to an operator and results to the user."""
