"""What all kinds of queries are written with: words, clauses, durations, expressions."""
