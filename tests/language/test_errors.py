"""Every mistake has an error of its own that marks the place and says what to type instead."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import re
from pathlib import Path

import pytest

import situ
from language.rows.test_errors import MISTAKES as ROW_MISTAKES
from situ import errors
from situ.errors import QueryError, SituError, Span, caret_lines
from situ.language import query

AB = "FROM t DEFINE A AS a, B AS b PATTERN"
ABC = "FROM t DEFINE A AS a, B AS b, C AS c PATTERN"
A = "FROM t DEFINE A AS"
INTERVALS = "FROM INTERVALS t STARTING s ENDING e"

# text, error, what the carets stand under, a part of the message or hint
MISTAKES = [
    ("SELECT * FROM cars", "QuerySyntaxError", "SELECT", "begin with FROM"),
    ("", "QuerySyntaxError", "", "begins with FROM"),
    ("FROM", "QuerySyntaxError", "FROM", "missing after FROM"),
    ("FROM t", "QuerySyntaxError", "FROM t", "DEFINE is missing"),
    ("FROM t DEFNE A AS a", "QuerySyntaxError", "DEFNE", 'did you mean "DEFINE"'),
    ("FROM t GROUP BY x DEFINE A AS a", "QuerySyntaxError", "GROUP BY", "PARTITION BY"),
    ("FROM t PARTITION x DEFINE A AS a", "QuerySyntaxError", "PARTITION", "write PARTITION BY"),
    ("FROM t JOIN u DEFINE A AS a", "QuerySyntaxError", "JOIN", "FROM weather AS w, flights AS f"),
    ("FROM t, DEFINE A AS a", "QuerySyntaxError", "FROM", "the name of a source is missing"),
    ("FROM t, u DEFINE A AS TRUE", "SourceError", "A", "DEFINE A ON t AS"),
    ("FROM t, u DEFINE A AS SILENCE AT LEAST 3", "SourceError", "A", "DEFINE A ON t AS"),
    ("FROM t, u DEFINE A ON v AS a", "SourceError", "A", "the sources are t, u"),
    ("FROM t, u DEFINE A ON u AS t.a", "SourceError", "A", "HAVING"),
    ("FROM t, u DEFINE A ON AS a", "QuerySyntaxError", "AS", "the name of a source after ON"),
    ("FROM t DEFINE A ON t AS a", "SourceError", "A", "leave ON out"),
    ("FROM t, u DEFINE A AS t.a AND u.b", "SourceError", "u.b", "HAVING"),
    ("FROM t, u WHERE t.a OR u.b DEFINE A AS t.a", "SourceError", "u.b", "HAVING"),
    ("FROM t, u DEFINE A AS t.a > prev(t.a)", "SourceError", "A", "a column of its own"),
    ("FROM t, u WHERE TRUE DEFINE A AS t.a", "SourceError", "TRUE", "name a column of it"),
    ("FROM t, t DEFINE A AS t.a", "SourceError", "t", "FROM t AS a, t AS b"),
    ("FROM t, INTERVALS u DEFINE A AS t.a", "IntervalQueryError", "INTERVALS", "do not mix"),
    ("FROM t, u ORDER BY t.x DEFINE A AS t.a", "SourceError", "t.x", "t.x = u.x"),
    ("FROM t, u PARTITION BY t.x DEFINE A AS t.a", "SourceError", "t.x", "names no column of u"),
    ("FROM t, u PARTITION BY t.x = y DEFINE A AS t.a", "SourceError", "y", "write u.y"),
    ("FROM t, u PARTITION BY t.x = t.y DEFINE A AS t.a", "SourceError", "t.x = t.y", "t.y = u.y"),
    ("FROM t, u PARTITION BY x, x DEFINE A AS t.a", "QuerySyntaxError", "x", "twice"),
    ("FROM t, u ORDER BY x + 1 DEFINE A AS t.a", "QuerySyntaxError", "x + 1", "pair theirs"),
    (f"{A} a WITHIN 5s WITHIN 6s", "QuerySyntaxError", "WITHIN", "twice"),
    (f"{A} a FROM u", "QuerySyntaxError", "FROM", "twice"),
    ("FROM t ORDER BY x DESC DEFINE A AS a", "QuerySyntaxError", "DESC", "ascending"),
    ("FROM t PARTITION BY upper(x) DEFINE A AS a", "QuerySyntaxError", "(", "compute anything else"),
    ("FROM t PARTITION BY x.y DEFINE A AS a", "QuerySyntaxError", "x.y", "field of one"),
    ("FROM t PARTITION BY x, X DEFINE A AS a", "QuerySyntaxError", "x, X", "twice"),
    (f"{A} a EMIT LATE", "QuerySyntaxError", "LATE", "EARLY reports"),
    ("FROM t DEFINE A speed > 70", "QuerySyntaxError", "speed", "expected AS"),
    ("FROM t DEFINE A AS a, PATTERN A before B", "QuerySyntaxError", ",", "no comma after the last"),
    ("FROM t DEFINE A AS a B AS b PATTERN A before B", "QuerySyntaxError", "B", "comma is missing"),
    (A, "QuerySyntaxError", "AS", "missing after"),
    (f"{A} (x > 1", "QuerySyntaxError", "(", "never closed"),
    (f"{A} x > 1)", "QuerySyntaxError", ")", "nothing open"),
    (f"{A} f(x] > 1", "QuerySyntaxError", "]", "needs a )"),
    (f"{A} x = 'abc", "QuerySyntaxError", "'", "no end"),
    (f"{A} x = `abc", "QuerySyntaxError", "`", "no end"),
    (f"{A} x > 1 /* abc", "QuerySyntaxError", "/*", "no end"),
    (f"{A} `` > 1", "QuerySyntaxError", "``", "empty"),
    (f"{A} name = \u201cx\u201d", "QuerySyntaxError", "\u201c", "type ' instead"),
    (f"{A} x > > 3", "QuerySyntaxError", ">", "value on its left"),
    (f"{A} x >", "QuerySyntaxError", ">", "not complete"),
    (f"{A} x => 3", "QuerySyntaxError", "=>", "write >="),
    (f"{A} x =< 3", "QuerySyntaxError", "=<", "write <="),
    (f"{A} x > 1 && y", "QuerySyntaxError", "&&", "write AND"),
    (f"{A} 5 < x < 70", "QuerySyntaxError", "5 < x < 70", "5 < speed AND speed < 70"),
    (f"{A} x is high", "QuerySyntaxError", "high", "'high'"),
    (f"{A} x y", "QuerySyntaxError", "y", "expected an operator"),
    (f"{A} name 'x'", "QuerySyntaxError", "'x'", "write name = 'x'"),
    (f"{A} x > ?", "QuerySyntaxError", "?", "parameter"),
    (f"{A} x > 1 PATERN A", "QuerySyntaxError", "PATERN", 'did you mean "PATTERN"'),
    (f"{A} abs(x, y, z) > 1", "QuerySyntaxError", ")", "too many or too few arguments"),
    (f"{A} x > 8m/s2 AT LEAST 5s", "NumberUnitError", "8m/s2", "units are not part of a number"),
    (f"{A} x > 70 mph", "NumberUnitError", "70 mph", "70 /* mph */"),
    (f"{A} a GROUP BY k", "QuerySyntaxError", "GROUP BY", "PARTITION BY"),
    (f"{A} a RETURN A.ts AS x GROUP BY k", "QuerySyntaxError", "GROUP BY", "PARTITION BY"),
    (f"{A} a LIMIT 10", "QuerySyntaxError", "LIMIT", "first rows of the table that situ.match gives"),
    (f"{A} a RETURN A.ts AS x LIMIT 10", "QuerySyntaxError", "LIMIT", "first rows"),
    (f"{A} a RETURN * LIMIT 10", "QuerySyntaxError", "LIMIT", "first rows"),
    (f"{A} a RETURN A.ts AS x LIMIT 10 OFFSET 3", "QuerySyntaxError", "LIMIT", "first rows"),
    (f"{A} a RETURN A.ts AS x ORDER BY x DESC", "QuerySyntaxError", "DESC", "the result has no order"),
    (f"{A} a HAVING", "QuerySyntaxError", "HAVING", "say which matches to report"),
    (f"{A} a HAVING x > 3", "ReturnItemError", "x", "RETURN names A_ts, A_te; items are such as first(A.x)"),
    (f"{A} a RETURN A.ts AS since HAVING sinse > 3", "ReturnItemError", "sinse", 'did you mean "since"'),
    (f"{A} a HAVING A.x > 3", "ReturnItemError", "A.x", "needs an aggregate"),
    (f"{A} a HAVING B.ts > 3", "UnknownSymbolError", "B", "the symbols are A"),
    (f"{A} a HAVING count(A) > 3 HAVING count(A) > 4", "QuerySyntaxError", "HAVING", "there twice"),
    (f"{A} silence", "QuerySyntaxError", "silence", "write SILENCE AT LEAST 10 minutes"),
    (f"{A} SILENCE AT MOST 5s", "DurationError", "SILENCE AT MOST 5s", "AT MOST alone"),
    (f"{A} SILENCE AT LEAST 0", "DurationError", "SILENCE AT LEAST 0", "silence of no length"),
    (f"{A} SILENCE BETWEEN 5 AND 3", "DurationBoundsError", "BETWEEN 5 AND 3", "BETWEEN 3 AND 5"),
    (f"{A} SILENCE AT LEAST 5s IGNORING GAPS UP TO 5s", "QuerySyntaxError", "A", "would be an event"),
    (f"{INTERVALS} DEFINE A AS SILENCE AT LEAST 5", "IntervalQueryError", "A", "intervals have none"),
    (f"{INTERVALS} DEFINE A AS a IGNORING GAPS UP TO 5", "IntervalQueryError", "A", "intervals have none"),
    (f"{A} a IGNORING", "QuerySyntaxError", "IGNORING", "expected GAPS after `IGNORING`"),
    (f"{A} a IGNORING GAP UP TO 5s", "QuerySyntaxError", "GAP", "IGNORING GAPS UP TO 5 seconds"),
    (f"{A} a IGNORING GAPS UP TO", "QuerySyntaxError", "TO", "how long a gap may be"),
    (f"{A} a IGNORING GAPS UP TO 0s", "DurationError", "0s", "a gap of no length is no gap"),
    (f"{A} a IGNORING GAPS UP TO 0 EVENTS", "DurationError", "0 EVENTS", "a gap of no length is no gap"),
    (f"{A} a IGNORING GAPS UP TO 1.5 EVENTS", "DurationError", "1.5", "a whole number from 1"),
    (f"{A} a IGNORING GAPS UP TO 5s AT LEAST 9s", "DurationError", "AT", "comes before IGNORING GAPS"),
    (f"{A} a AT LEAST 3 IGNORING GAPS UP TO 5s", "MixedDurationsError", "A", "units for timestamps"),
    (f"{A} a > :limit", "ParameterError", ":limit", "give it one: situ.query(text, limit=5)"),
    ("FROM t SELECT A.ts DEFINE A AS a", "QuerySyntaxError", "SELECT", "in RETURN"),
    ("FROM t MATCH_RECOGNIZE (x)", "QuerySyntaxError", "x", "write MATCH_RECOGNIZE (ORDER BY ts PATTERN"),
    (f"{AB} A{{3}} before B", "QuerySyntaxError", "{", "define it several times, A1 AS"),
    (f"{AB} A before B{{2,3}}", "QuerySyntaxError", "{", "define it several times, B1 AS"),
    (f"{AB} A 3 times before B", "QuerySyntaxError", "3", "define it several times"),
    (f"{A} a AT LEAST 3 times", "UnknownDurationUnitError", "times", "count(A) in RETURN"),
    (f"{A} a AT LEAST 3 rows", "UnknownDurationUnitError", "rows", "not a number of rows"),
    (f"{AB} A before B?", "QuerySyntaxError", "?", "leave B out"),
    (f"{AB} A? before B", "QuerySyntaxError", "?", "leave A out"),
    (f"{AB} A+ before B", "QuerySyntaxError", "+", "write A alone"),
    (f"{AB} A* before B", "QuerySyntaxError", "*", "write A alone"),
    (f"{AB} A B", "QuerySyntaxError", "B", "A before B"),
    (f"{AB} (A B+)", "QuerySyntaxError", "B", "expected a relation between"),
    (f"{AB} A => B", "QuerySyntaxError", "=>", "followed-by"),
    (f"{AB} A == B", "QuerySyntaxError", "==", "equals"),
    (f"{AB} A != B", "QuerySyntaxError", "!=", "before;after"),
    (f"{AB} A before B && A meets B", "QuerySyntaxError", "&&", "write AND"),
    (f"{AB} A before B || A meets B", "QuerySyntaxError", "||", "separated by ;"),
    (f"{AB} (A before B) OR (A before C)", "QuerySyntaxError", "OR", "ask several queries in one pass"),
    (f"{AB} A before B AND NO C", "QuerySyntaxError", "", "NO C during B"),
    (f"{AB} NO A WITHIN 1 day", "QuerySyntaxError", "", "NO A during B"),
    (f"{AB} A during B A before B", "QuerySyntaxError", "A", "AND is missing"),
    (f"{ABC} A during B B before C", "QuerySyntaxError", "B", "AND is missing"),
    (f"{ABC} A during B B met-by C", "QuerySyntaxError", "B", "AND is missing"),
    (f"{AB} A within B", "QuerySyntaxError", "within", "write inside; WITHIN is the window"),
    (f"{AB} A during;within B", "QuerySyntaxError", "within", "write inside; WITHIN is the window"),
    (f"{AB} A in B", "UnknownRelationError", "in", "write inside"),
    (f"{AB} A then B", "UnknownRelationError", "then", "write before"),
    (f"{AB} A wile B", "UnknownRelationError", "wile", 'did you mean "while"'),
    (f"{AB} A insid B", "UnknownRelationError", "insid", 'did you mean "inside"'),
    (f"{AB} A BY AT MOST 5 minutes B", "UnknownRelationError", "BY", "behind the second symbol"),
    (f"{A} x > 1 || y > 2", "QuerySyntaxError", "||", "write OR"),
    (f"{A} x === 1", "QuerySyntaxError", "===", "write ="),
    (f"{A} x > 1 y > 2", "QuerySyntaxError", "y", "AND or OR"),
    (f"{A} x > 1 y IN (2)", "QuerySyntaxError", "y", "AND or OR"),
    (f"{A} x > 1 LONGER THAN 5 minutes", "DurationError", "LONGER", "AT LEAST 5 seconds"),
    (f"{A} x > 1 LASTING 5 minutes", "DurationError", "LASTING", "AT LEAST 5 seconds"),
    (f"{A} x > 1 AT LESAT 5 minutes", "DurationError", "AT", "AT LEAST 5 seconds"),
    (f"{A} x > 1 WITHIN 5:00", "DurationError", ":", "WITHIN 5 minutes"),
    (f"{A} x > 1 WITHIN 5 minutes OF A", "DurationError", "OF", "nothing else"),
    (f"{A} x > 1 WITHIN 1h30", "UnknownDurationUnitError", "h30", "1 hour 30 minutes"),
    (f"{A} x > 1 WITHIN PT5M", "DurationError", "PT5M", "number and a unit"),
    (f"{A} a RETURN A.ts AS x A.te AS y", "QuerySyntaxError", "A", "a comma is missing before `A`"),
    (f"{A} a RETURN avg(A.x) AS x avg(A.y) AS y", "QuerySyntaxError", "avg", "a comma is missing"),
    (f"{A} a RETURN avg(A.x) avg(A.y) AS y", "QuerySyntaxError", "avg(A.y)", "`avg(A.x)` and `avg(A.y)`"),
    (f"{A} a RETURN count(B) AS n", "ReturnItemError", "B", "the symbols are A"),
    (f"{A} a RETURN sum(A) AS n", "ReturnItemError", "A", "say which column"),
    (f"{A} a RETURN A.start AS s", "ReturnItemError", "A.start", "did you mean A.ts?"),
    (f"{A} a RETURN A.length AS s", "ReturnItemError", "A.length", "did you mean A.duration?"),
    (f"{A} a RETURN B.ts AS s", "UnknownSymbolError", "B", "the symbols are A"),
    ("FROM t DEFINE A = x > 1", "QuerySyntaxError", "=", "write A AS"),
    ("FROM t DEFINE A: x > 1", "QuerySyntaxError", ":", "write A AS"),
    ("FROM t DEFINE x > 1 AS A", "QuerySyntaxError", ">", "A AS x > 1"),
    ("FROM t DEFINE A-B AS x", "QuerySyntaxError", "-", "back-quotes"),
    ("FROM t DEFINE A AS x, AS y", "QuerySyntaxError", "AS", "name of a symbol is missing"),
    ("FROM t DEFINE A AS x AS y", "QuerySyntaxError", "AS", "one AS"),
    ("FROM t DEFINE A AS x; B AS y", "QuerySyntaxError", ";", "separated by commas"),
    ("FROM t ORDER BY ts, DEFINE A AS x", "QuerySyntaxError", ",", "column is missing"),
    (f"{A} x EMIT FINAL EARLY", "QuerySyntaxError", "EARLY", "nothing else"),
    ("FROM 'cars.parquet' DEFINE A AS x", "QuerySyntaxError", "'cars.parquet'", "situ.match"),
    (f"{A} x AT LEAST {'9' * 5_000} s", "DurationError", f"{'9' * 5_000} s", "longer than time"),
    (f"{A} x AT LEAST {'9' * 5_000}", "DurationError", "9" * 5_000, "longer than time"),
    (f"{A} x AT LEAST 1e{'9' * 5_000} s", "DurationError", None, "longer than time"),
    (f"{A} x AT LEAST 1e-{'9' * 5_000} s", "DurationError", None, "whole number of microseconds"),
    (f"{A} x AT LEAST 0.{'0' * 5_000}1 s", "DurationError", None, "whole number of microseconds"),
    (f"{A} x > 8km/h", "NumberUnitError", "8km/h", "8 /* km/h */"),
    (f"{A} x > 5and y", "QuerySyntaxError", "and", "space is missing"),
    (f"{A} x > 70 FOR 5 seconds", "DurationError", "FOR", "AT LEAST 5 seconds"),
    (f"{A} x AT LEAST", "QuerySyntaxError", "LEAST", "AT LEAST needs a duration"),
    (f"{A} x AT LEAST five minutes", "DurationError", "five", "number and a unit"),
    (f"{A} x AT LEAST -5s", "DurationError", "-", "sign"),
    (f"{A} x AT LEAST 0.5 us", "DurationError", "0.5 us", "whole number of microseconds"),
    (f"{A} x AT LEAST 1.5", "DurationError", "1.5", "whole number of ticks"),
    (f"{A} x AT LEAST 1e30 days", "DurationError", "1e30 days", "longer than time"),
    (f"{A} x AT LEAST 1e999999999 days", "DurationError", "1e999999999 days", "longer than time"),
    (f"{A} x AT LEAST 5s AND y > 1", "DurationError", "AND", "conditions go before AT"),
    (f"{A} x AT LEAST 5s AT MOST 6s", "DurationError", "AT", "BETWEEN"),
    (f"{A} x BETWEEN 5s", "DurationError", "s", "two durations"),
    (f"{A} x BETWEEN 4s AND 30s AND y", "DurationError", "AND", "duration ends"),
    (f"{A} x AT LEAST 1 hour 30", "DurationError", "30", "no unit"),
    (f"{A} x AT LEAST INTERVAL '1:30' MINUTE TO SECOND", "DurationError", None, "several fields"),
    ("FROM t WHERE x AT LEAST 5s DEFINE A AS a", "DurationError", "AT LEAST 5s", "no duration"),
    (f"{A} x WITHIN 5 mintues", "UnknownDurationUnitError", "mintues", 'did you mean "minutes"'),
    (f"{A} x WITHIN 5 months", "UnknownDurationUnitError", "months", "30 days"),
    (f"{A} x WITHIN 5 parsecs", "UnknownDurationUnitError", "parsecs", "units are microseconds"),
    (f"{A} x BETWEEN 30s AND 4s",
     "DurationBoundsError", "BETWEEN 30s AND 4s", "BETWEEN 4 seconds AND 30 seconds"),
    (f"{A} x AT LEAST 5 WITHIN 5 minutes",
     "MixedDurationsError", "WITHIN 5 minutes", "give all of them units"),
    (f"{A} x AT LEAST 10 min WITHIN 5 min", "WindowTooShortError", "WITHIN 5 min",
     '"A AT LEAST 10 minutes" and "WITHIN 5 minutes" exclude'),
    (f"{AB} A before b", "UnknownSymbolError", "b", 'did you mean "B"'),
    (f"{A} a RETURN avg(B.x) AS x", "UnknownSymbolError", "B", "the symbols are A"),
    (f"{AB} A overlap B", "UnknownRelationError", "overlap", 'did you mean "overlaps"'),
    (f"{AB} A overlapd-by B", "UnknownRelationError", "overlapd-by", 'did you mean "overlapped-by"'),
    (f"{AB} A xyzzy B", "UnknownRelationError", "xyzzy", "the relations are before"),
    (f"{AB} A.start < B.ts", "UnknownEndpointError", "A.start", "did you mean A.ts"),
    (f"{AB} A.speed < B.speed", "UnknownEndpointError", "A.speed", "in the conditions of DEFINE"),
    (f"{AB} A before B OR A meets B", "QuerySyntaxError", "OR", "separated by ;"),
    (f"{AB} A meets, overlaps B", "QuerySyntaxError", ",", "alternatives with ;"),
    (f"{AB} A and B", "QuerySyntaxError", "and", "name a relation"),
    (f"{AB} A -> B", "QuerySyntaxError", "->", "followed-by"),
    (f"{AB} A = B", "QuerySyntaxError", "=", "equals"),
    (f"{AB} NOT A before B", "QuerySyntaxError", "NOT", "write NO: NO A during B"),
    (f"{AB} A.ts < 5", "QuerySyntaxError", "5", "compared with endpoints"),
    (f"{AB} A.te - A.ts > 5", "UnusedSymbolError", "B", "relate it"),
    (f"{AB} A.ts <> B.ts", "QuerySyntaxError", "<>", "A.ts < B.ts; A.ts > B.ts"),
    (f"{AB} A before B.ts", "QuerySyntaxError", "B.ts", "join the two with AND"),
    (f"{AB} A before B AND", "QuerySyntaxError", "", "expected a symbol"),
    (f"{A} a PATTERN A", "QuerySyntaxError", "", "leave it out"),
    (f"{A} a PATTERN", "QuerySyntaxError", "PATTERN", "A overlaps B"),
    ("FROM t DEFINE A AS a, A AS b", "DuplicateSymbolError", "A", "defined twice"),
    (f"{ABC} A before B", "UnusedSymbolError", "C", "remove the definition of C"),
    ("FROM t DEFINE A AS a, B AS b, C AS c, D AS d PATTERN A meets B AND C meets D",
     "DisconnectedPatternError", "C",
     "nothing relates C, D to A, B"),
    (f"{AB} A.ts < A.te AND B.ts < B.te", "DisconnectedPatternError", "B", "nothing relates B to A"),
    (f"{AB} A before B AND B before A",
     "InconsistentPatternError", "B before A", '"A before B" and "B before A"'),
    (f"{ABC} A before B AND B before C AND C during A", "InconsistentPatternError", "C during A",
     'because of "A before B" and "B before C"'),
    (f"{AB} A.ts > A.te AND A before B", "InconsistentPatternError", "A.ts > A.te", "starts before it ends"),
    (f"{A} a PATTERN A before A", "SelfRelationError", "A before A", "define it twice"),
    (f"{ABC} A before B; A before C AND B before C", "AlternativesError", "A before C", "in one pass"),
    (f"{AB} A before B; A.ts < A.te", "AlternativesError", None, "always true"),
    (f"{AB} A before B; B.ts <= A.te + 5", "AlternativesError", "B.ts <= A.te + 5", "A before;meets B BY"),
    (f"{AB} A meets B; A before B BY AT MOST 5 min", "AlternativesError", "A before B BY AT MOST 5 min",
     "in one pass"),
    (f"{AB} A contains B BY AT MOST 5 min", "DistanceError", "A contains B BY AT MOST 5 min",
     "the whole of B: bound its length in DEFINE, B AS ... AT MOST 5 minutes"),
    (f"{AB} A during B BY AT MOST 5", "DistanceError", "A during B BY AT MOST 5", "A AS ... AT MOST 5"),
    (f"{AB} A while B BY BETWEEN 2 AND 5", "DistanceError", None, "A.te <= B.ts + 5"),
    (f"{AB} A before;after B BY AT MOST 5", "DistanceError", "A before;after B BY AT MOST 5",
     "B.ts <= A.te + 5 AND A.ts <= B.te + 5"),
    (f"{AB} A meets;overlaps B BY AT LEAST 5", "DistanceError", None, "compare endpoints"),
    (f"{AB} A before B BY 5 minutes", "QuerySyntaxError", "5", "BY AT MOST 5 minutes"),
    (f"{AB} A before B BY AT MOST", "QuerySyntaxError", "MOST", "AT MOST needs a duration"),
    (f"{AB} A before B BY AT MOST 5 mintues", "UnknownDurationUnitError", "mintues", "minutes"),
    (f"{AB} A before B BY BETWEEN 5s", "QuerySyntaxError", "", "two durations"),
    (f"{AB} A before B BY BETWEEN 9s AND 2s", "DurationBoundsError", "BY BETWEEN 9s AND 2s",
     "BETWEEN 2 seconds AND 9 seconds"),
    (f"{AB} B.ts - A.te BETWEEN 9s AND 2s", "DurationBoundsError", "BETWEEN 9s AND 2s",
     "BETWEEN 2s AND 9s"),
    (f"{AB} B.ts BETWEEN A.te + 9 AND A.te + 2", "DurationBoundsError", None, "wrong way round"),
    (f"{AB} B.ts - A.te BETWEEN 2s OR 9s", "QuerySyntaxError", "OR", "two bounds"),
    (f"{AB} B.ts - A.te != 5", "QuerySyntaxError", "!=", "expected a comparison"),
    (f"{AB} (B.ts - A.te) <= 5", "QuerySyntaxError", ")", "without them"),
    (f"{AB} B.ts <= 2 * A.te", "QuerySyntaxError", "*", "no factors"),
    (f"{AB} B.ts / 2 <= A.te", "QuerySyntaxError", "/", "no factors"),
    (f"{AB} A.ts + B.ts <= A.te", "QuerySyntaxError", "A.ts + B.ts <= A.te", "two at a time"),
    (f"{AB} A.ts + B.ts <= 5", "QuerySyntaxError", "A.ts + B.ts <= 5", "two at a time"),
    (f"{ABC} B.ts - A.te <= C.ts", "QuerySyntaxError", "B.ts - A.te <= C.ts", "two at a time"),
    (f"{AB} B.ts <= A.te + -5", "QuerySyntaxError", "-", "found `-`"),
    (f"{AB} B.ts <= A.te + five", "QuerySyntaxError", "five", "expected an endpoint"),
    (f"{AB} 5 <= 6 AND A before B", "QuerySyntaxError", "5", "expected an endpoint"),
    (f"{AB} A.ts < B.ts + 1e30", "DurationError", "1e30", "longer than time"),
    (f"{AB} A.ts + 5e18 < B.ts - 5e18", "DurationError", None, "longer than time"),
    (f"{AB} A.ts < B.ts + 5 minutes + 3", "MixedDurationsError", "B.ts + 5 minutes + 3", "give both"),
    (f"{AB} A.ts + 3 < B.ts + 5 minutes", "MixedDurationsError", None, "give both"),
    (f"{AB} A.ts + 3 < B.ts WITHIN 5 minutes", "MixedDurationsError", "WITHIN 5 minutes", "give all"),
    (f"{A} a AT LEAST 5s PATTERN A.te - A.ts < 9", "MixedDurationsError", "A.te - A.ts < 9", "give all"),
    (f"{A} a AT LEAST 5s PATTERN A.te - A.ts < 5s", "InconsistentPatternError", "A.te - A.ts < 5s",
     "no A can last for at least 5 seconds and at most 4999999 microseconds"),
    (f"{A} a PATTERN A.te - A.ts < 1", "InconsistentPatternError", "A.te - A.ts < 1", "never true"),
    (f"{A} a PATTERN A.ts > A.ts + 5", "InconsistentPatternError", "A.ts > A.ts + 5", "never true"),
    (f"{AB} A.duration < 5 AND A before B", "UnknownEndpointError", "A.duration", "A.te - A.ts"),
    (f"{AB} A contains B AND A.te <= A.ts + 5 AND A.ts + 5 <= B.ts", "InconsistentPatternError",
     "A.ts + 5 <= B.ts", '"A contains B" and "A.ts + 5 <= B.ts" exclude'),
    (f"{AB} A before B BY AT LEAST 9s AND B.te <= A.ts + 9s", "InconsistentPatternError", "B.te <= A.ts + 9s",
     '"A before B BY AT LEAST 9s" and "B.te <= A.ts + 9s" exclude'),
    (f"{AB} A before B BY AT LEAST 9s WITHIN 9s", "WindowTooShortError", "WITHIN 9s",
     '"A before B BY AT LEAST 9s" and "WITHIN 9 seconds"'),
    (f"{AB} A while B WITHIN 5 FROM u", "QuerySyntaxError", "FROM", "twice"),
    (f"{ABC} A before B AND NO C after B", "AbsenceError", "NO C after B", "BY AT MOST"),
    (f"{A} a RETURN A.ts AS x, A.te AS X", "DuplicateNameError", "X", "the item x"),
    ("FROM t PARTITION BY p DEFINE A AS a RETURN A.ts AS P", "DuplicateNameError", "P", "partition column p"),
    (f"{A} a RETURN A.ts AS match_time", "DuplicateNameError", "match_time", "situ adds"),
    ("FROM t DEFINE A AS x, a AS y PATTERN A before a",
     "DuplicateNameError", None, "list the items in RETURN"),
    (f"{A} a RETURN avg(A.x)", "ReturnItemError", "avg(A.x)", "avg(A.x) AS avg_A_x"),
    (f"{A} a RETURN A.ts x", "ReturnItemError", "x", "A.ts AS x"),
    (f"{A} a RETURN A.x AS x", "ReturnItemError", "A.x", "first(A.x)"),
    (f"{A} a RETURN x AS x", "ReturnItemError", "x", "first(A.x)"),
    (f"{A} a RETURN A AS x", "ReturnItemError", "A", "count(A)"),
    (f"{A} a RETURN avg(x) AS x", "ReturnItemError", "x", "avg(A.x)"),
    (f"{A} a RETURN avg(A.x * 2) AS x", "ReturnItemError", "A.x * 2", "compute with the result"),
    (f"{A} a RETURN avg(max(A.x)) AS x", "ReturnItemError", "max(A.x)", "cannot be nested"),
    (f"{A} a RETURN count(*) AS x", "ReturnItemError", "count(*)", "count(A)"),
    (f"{A} a RETURN count(DISTINCT A.x) AS x", "ReturnItemError", "DISTINCT", "takes no"),
    (f"{A} a RETURN max(A.ts) AS x", "ReturnItemError", "A.ts", "A.`ts`"),
    (f"{A} a RETURN *, A.ts AS x", "ReturnItemError", "*", "alone"),
    (f"{A} a RETURN A.ts AS x,", "QuerySyntaxError", "RETURN", "none after the last"),
    (f"{A} a RETURN A.ts AS", "QuerySyntaxError", "AS", "name after AS"),
    (f"{A} a RETURN meen(A.x) AS x", "UnknownAggregateError", "meen", 'did you mean "mean"'),
    (f"{A} a RETURN collect_set(A.x) AS x", "UnknownAggregateError", "collect_set", "aggregates are first"),
    (f"{A} a RETURN percentil(A.x, 0.5) AS x", "UnknownAggregateError", "percentil", 'mean "percentile"'),
    (f"{A} a RETURN approx_percentile(A.x, 0.5) AS x", "UnknownAggregateError", "approx_percentile", "exact"),
    (f"{A} a RETURN percentile(A.x) AS x", "ReturnItemError", "percentile(A.x)", "percentile(A.speed, 0.95)"),
    (f"{A} a RETURN percentile(A.x, 1.5) AS x", "ReturnItemError", "1.5", "one item for each"),
    (f"{A} a RETURN percentile(A.x, -0.5) AS x", "ReturnItemError", "-0.5", "one item for each"),
    (f"{A} a RETURN percentile(A.x, array(0.5)) AS x", "ReturnItemError", "array(0.5)", "one item for each"),
    (f"{A} a RETURN percentile(A.x, 0.5, 3) AS x", "ReturnItemError", "3", "no frequencies"),
    (f"{A} a RETURN percentile(x, 0.5) AS x", "ReturnItemError", "x", "percentile(A.x, 0.95)"),
    (f"{A} a RETURN percentile(A.x,) AS x", "ReturnItemError", "A.x,", "one plain number"),
    (f"{A} a RETURN median(A.x, 0.5) AS x", "ReturnItemError", "A.x, 0.5", "compute with the result"),
    (f"{A} a RETURN max(A.x) OVER () AS x", "ForbiddenExpressionError", "OVER", "takes no OVER"),
    (f"{A} a RETURN rand() AS x", "ForbiddenExpressionError", "rand", "not determined by the row"),
    (f"{A} x > 1 AND A.te > 5", "EndpointInConditionError", "A.te", "AT LEAST"),
    ("FROM t WHERE A.duration > 5 DEFINE A AS a", "EndpointInConditionError", "A.duration", "PATTERN"),
    (f"{A} avg(x) > 5", "AggregateInConditionError", "avg", "TPStream"),
    (f"{A} x > max(A.x)", "AggregateInConditionError", "max", "greatest"),
    ("FROM t WHERE count(*) > 5 DEFINE A AS a", "AggregateInConditionError", "count", "one row"),
    (f"{A} rand() > 0.5", "ForbiddenExpressionError", "rand", "calls rand"),
    (f"{A} x > now()", "ForbiddenExpressionError", "now", "calls now"),
    (f"{A} x > unix_timestamp()", "ForbiddenExpressionError", "unix_timestamp", "calls unix_timestamp"),
    (f"{A} x > CURRENT_DATE", "ForbiddenExpressionError", "CURRENT_DATE", "calls current_date"),
    (f"{A} lag(x) > 1", "ForbiddenExpressionError", "lag", "window function lag"),
    (f"{A} my_rank(x) OVER (ORDER BY y) > 1", "ForbiddenExpressionError", "OVER", "window function"),
    (f"{A} explode(x) > 1", "ForbiddenExpressionError", "explode", "many rows of one"),
    (f"{A} x > (SELECT max(y) FROM u)", "ForbiddenExpressionError", "SELECT", "subquery"),
    (f"{A} x IN (SELECT y FROM u)", "ForbiddenExpressionError", "SELECT", "subquery"),
    (f"{A} {'(' * 201}x{')' * 201}", "NestingError", "(", "200 levels"),
    ("FROM t DEFINE " + ", ".join(f"S{n} AS x" for n in range(65)),
     "TooManySymbolsError", "S64", "64 symbols"),
    ("FROM INTERVALS t DEFINE A AS a", "IntervalQueryError", None, "needs STARTING"),
    ("FROM t STARTING s ENDING e DEFINE A AS a", "IntervalQueryError", "STARTING", "FROM INTERVALS t"),
    (f"{INTERVALS} PATTERN A before B", "IntervalQueryError", None, "which interval is what"),
    (f"{INTERVALS} SYMBOL BY k", "IntervalQueryError", None, "those of PATTERN"),
    (f"{INTERVALS} SYMBOL BY k DEFINE A AS a", "IntervalQueryError", "DEFINE", "either from the column"),
    (f"{INTERVALS} SYMBOL BY k ORDER BY s PATTERN A before B", "IntervalQueryError", "BY", "no ORDER BY"),
    (f"{INTERVALS} SYMBOL BY k PATTERN A follows B",
     "IntervalQueryError", "A follows B", "use before or after"),
    ("FROM INTERVALS t STARTING s ENDING s DEFINE A AS a", "IntervalQueryError", "s", "same column"),
    (f"{INTERVALS}, f DEFINE A AS a", "QuerySyntaxError", "e, f", "one column"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kind", "marked", "said"), MISTAKES, ids=[text[:60] for text, *_ in MISTAKES]
)
def test_mistakes(text: str, kind: str, marked: str | None, said: str) -> None:
    with pytest.raises(QueryError) as caught:
        query(text)
    error = caught.value
    assert type(error).__name__ == kind, str(error)
    assert said in str(error)
    assert error.text == text
    assert error.span is not None
    if marked is not None:
        assert text[error.span.start : error.span.end] == marked
    assert "^" in str(error)


def test_every_class_for_query_text_has_a_mistake_that_raises_it() -> None:
    raised = {kind for _, kind, _, _ in (*MISTAKES, *ROW_MISTAKES)}
    classes = {cls.__name__ for cls in subclasses(QueryError) if not issubclass(cls, errors.BindError)}
    assert classes == raised


def subclasses(root: type[Exception]) -> set[type[Exception]]:
    return {deeper for child in root.__subclasses__() for deeper in {child, *subclasses(child)}}


def test_every_error_is_documented() -> None:
    for module in pkgutil.walk_packages(situ.__path__, "situ."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    page = (Path(__file__).parents[2] / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^#+ `(\w+)`", page, re.M))
    public = {cls.__name__ for cls in subclasses(SituError)} | {"SituError"}
    assert public - headings == set()
    assert headings - public == set()


@pytest.mark.parametrize(("text", "kind", "marked", "said"), MISTAKES[::20])
def test_errors_survive_pickling(text: str, kind: str, marked: str | None, said: str) -> None:
    with pytest.raises(QueryError) as caught:
        query(text)
    restored = pickle.loads(pickle.dumps(caught.value))
    assert type(restored) is type(caught.value)
    assert str(restored) == str(caught.value)


def test_the_caret_stands_under_wide_characters_and_tabs() -> None:
    assert caret_lines("\t速度 > oops", Span(6, 10)) == ["  line 1:  速度 > oops", "                  ^^^^"]


def test_the_caret_names_the_line() -> None:
    assert caret_lines("a\nbb cc\nd", Span(5, 7)) == ["  line 2: bb cc", "             ^^"]


def test_a_long_line_is_cut_around_the_caret() -> None:
    line, carets = caret_lines("x" * 500 + "OOPS" + "y" * 500, Span(500, 504))
    assert len(line) < 130
    assert line[carets.index("^") : carets.index("^") + 4] == "OOPS"
    assert line.endswith("...")


def test_a_caret_at_the_end_of_the_text() -> None:
    assert caret_lines("abc", Span(3, 3)) == ["  line 1: abc", "             ^"]


REFUSED = ("reflect", "java_method", "try_reflect", "rand", "max", "explode", "row_number")
SPELLINGS = ("{}", "`{}`", "`{}` /* */", "builtin.{}", "system.builtin.{}", "system.`builtin`.`{}`")


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_function_that_is_refused_is_refused_in_every_spelling(name: str, spelling: str) -> None:
    """Spark calls its own function by each of these, and reflect calls any Java method."""
    call = f"{spelling.format(name)}('java.lang.System', 'exit')"
    for text in (f"{call} = 'x'", f"transform(xs, x -> {call})[0] = 'x'"):
        with pytest.raises(QueryError, match=f"calls .*{name}"):
            situ.query(f"{A} {text}")
    with pytest.raises(QueryError):
        situ.query(f"{A} x > 1 RETURN concat(first(A.x), {call}) AS y")


# The caret's exact place, between the two marks.
PLACES = [
    "FROM t DEFINE A AS a, B AS b PATTERN A during B «A» before B",
    "FROM t DEFINE A AS a, B AS b PATTERN A before B«?»",
    "FROM t DEFINE A AS a, B AS b PATTERN A before B«{»3}",
    "FROM t DEFINE A AS a, B AS b PATTERN A before B «&&» A meets B",
    "FROM t DEFINE A AS a, B AS b PATTERN A before «C»",
    "FROM t DEFINE A AS a, B AS b PATTERN A before B AND B «bfore» A",
    "FROM t DEFINE A AS a, B AS b PATTERN A «B»",
    "FROM t DEFINE A AS x > 1 «y» > 2",
    "FROM t DEFINE A AS x > 1 «||» y > 2",
    "FROM t DEFINE A AS x > 1 «FOR» 5 minutes",
    "FROM t DEFINE A AS x > 1 «LONGER» THAN 5 minutes",
    "FROM t DEFINE A AS x > 1 WITHIN 5 «minuts»",
    "FROM t DEFINE A AS x «AS» y",
    "FROM t DEFINE A AS x«;» B AS y",
    "FROM t DEFINE A AS x > 1 «B» AS y",
    "FROM t DEFINE A AS x = «'»abc",
    "FROM t DEFINE A AS x RETURN A.ts AS a, A.te AS b «GROUP BY» k",
    "FROM t DEFINE A AS x RETURN A.ts AS a «LIMIT» 3",
    "FROM t DEFINE A AS x RETURN A.ts AS a «A».te AS b",
    "FROM t DEFINE A AS x RETURN A.ts AS a, avg(«B».x) AS b",
    "FROM t DEFINE A AS x RETURN avg(«A») AS b",
    "FROM t DEFINE A AS x EMIT FINAL «EARLY»",
    "FROM t DEFINE A AS x WITHIN 5 min «WITHIN» 6 min",
    "FROM t ORDER BY ts«,» DEFINE A AS x",
    "FROM t «SELECT» A.ts DEFINE A AS x",
]


@pytest.mark.parametrize("marked", PLACES)
def test_the_caret_stands_under_the_word_that_is_wrong(marked: str) -> None:
    before, wrong, _ = re.split("[«»]", marked)
    with pytest.raises(QueryError) as caught:
        query(re.sub("[«»]", "", marked))
    assert caught.value.span == Span(len(before), len(before) + len(wrong)), str(caught.value)
    _, line, carets, *_ = str(caught.value).splitlines()
    assert carets.index("^") == line.index(before) + len(before)
    assert carets.strip() == "^" * len(wrong)


@pytest.mark.parametrize("given", ["query.situ", "/home/me/q.sql", "./queries/drivers", Path("a/b.situ")])
def test_a_path_is_not_a_query(given: str | Path) -> None:
    with pytest.raises(errors.QuerySyntaxError) as caught:
        situ.query(given)  # type: ignore[arg-type]
    assert f"situ.query(Path({str(given)!r}).read_text())" in str(caught.value)


@pytest.mark.parametrize("given", [None, 5, b"FROM t", ["FROM t"]])
def test_a_query_is_text(given: object) -> None:
    with pytest.raises(errors.QuerySyntaxError, match="a query is text"):
        situ.query(given)  # type: ignore[arg-type]


def test_too_many_symbols_are_refused_before_any_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def unread(*_: object, **__: object) -> None:
        raise AssertionError("a condition was read")

    monkeypatch.setattr("situ.language.situations.define.expression", unread)
    with pytest.raises(errors.TooManySymbolsError, match="has 1000"):
        query("FROM t DEFINE " + ", ".join(f"S{i} AS x > {i}" for i in range(1_000)))


def test_clauses_of_sql_may_be_names() -> None:
    text = (
        "FROM t limit DEFINE A AS limit > 5 AND offset = 1 RETURN first(A.`group`) AS offset, A.ts AS select"
    )
    assert str(query(text)).startswith("FROM t\nDEFINE A AS")


def test_order_by_a_result_column_is_told_what_order_by_is() -> None:
    from situ.language.situations.binder import bind
    from situ.language.text.types import Column

    wrong = query("FROM t DEFINE A AS x > 1 RETURN A.ts AS since ORDER BY since")
    with pytest.raises(errors.UnknownColumnError, match="the result has no order"):
        bind(wrong, (Column("ts", "timestamp"), Column("x", "int")))
