"""Situations: derived from events or given as intervals, joined into matches."""
