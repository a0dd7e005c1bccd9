"""Row patterns: MATCH_RECOGNIZE as text, as data, and without text."""
