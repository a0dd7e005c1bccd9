"""What of SEM 9 to 15 random queries are made of. A feature is turned off by leaving it out of ON."""

from __future__ import annotations

ALL = frozenset(
    {
        "differences",  # SEM 9.1
        "by",  # SEM 9.2
        "words",  # SEM 10
        "absences",  # SEM 11, over events
        "absences of intervals",  # SEM 11.8
        "silences",  # SEM 12, positive, and absent where absences are on
        "having",  # SEM 13.1
        "gaps",  # SEM 14
        "prev",  # SEM 15
        "until",  # SEM 11.9, of queries with ticks
    }
)
ON = ALL - {"sources"}
