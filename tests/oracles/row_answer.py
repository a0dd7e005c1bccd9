"""The whole answer to a row pattern query: rows and a question in, result rows out (ROW 1.3, 6, 8.3, 8.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from oracles.row_items import Known, Path, Row, RowQuestion, View, known_at
from oracles.row_matches import Match, certain, timeouts, told

Key = tuple[Any, ...]
Clock = Callable[[Key], int | None]


class Found(NamedTuple):
    """A match, the history it was found in, and when it became certain: never without the end, if None."""

    key: Key
    rows: list[Row]
    match: Match
    match_time: int | None


def matches(
    rows: Sequence[Row], question: RowQuestion, clock: Clock | None = None, is_timed: bool = True
) -> list[Found]:
    """`clock` says how far time has passed in each partition; without it the input has ended."""
    found = []
    for key, history in histories(rows, question):
        told: dict[tuple[int, Path], Found] = {}
        now = None if clock is None else clock(key)
        known = list(horizons(history, question)) if is_timed else []
        if clock is None:
            known.append((None, known_at(question, history, None)))
        for horizon, part in known:
            if clock is None or (now is not None and horizon is not None and horizon <= now):
                certainly = {(match.start, match.path): match for match in certain(part)}
                assert set(told) <= set(certainly), "what is certain stays so"
                for name, match in certainly.items():
                    told.setdefault(name, Found(key, history, match, horizon))
        found += told.values()
    return found


def horizons(history: list[Row], question: RowQuestion) -> Iterator[tuple[int, Known]]:
    """The instants at which something may become certain, and what is known then (ROW 8.2, 8.6)."""
    times = [row[question.time] for row in history] if question.time else []
    instants = set(times)
    if question.within is not None:
        instants |= {time + question.within for time in times}
    over = None
    if question.forget_after is not None and times:
        over = times[-1] + question.forget_after
        instants = {time for time in instants if time < over} | {over}
    for instant in sorted(instants):
        yield instant, known_at(question, history, None if instant == over else instant)


def histories(rows: Sequence[Row], question: RowQuestion) -> Iterator[tuple[Key, list[Row]]]:
    """Each partition in order, cut where it is forgotten."""
    parts: dict[Key, list[Row]] = {}
    for row in rows:
        if question.where is None or question.where(row) is True:
            parts.setdefault(tuple(row[column] for column in question.partition), []).append(row)
    for key, part in parts.items():
        for column, descending, nulls_last in reversed(question.order):
            part.sort(key=lambda row, column=column: as_sorted(row[column]), reverse=descending)
            part.sort(key=lambda row, column=column: (row[column] is None) == nulls_last)
        history: list[Row] = []
        for row in part:
            after = question.forget_after
            if history and after is not None and row[question.time] - history[-1][question.time] > after:
                yield key, history
                history = []
            history.append(row)
        yield key, history


def as_sorted(value: Any) -> tuple[bool, Any]:
    return (value is not None, value if value is not None else 0)


def answer(
    rows: Sequence[Row],
    question: RowQuestion,
    columns: Sequence[str] = (),
    clock: Clock | None = None,
    options: Sequence[str] = (),
) -> list[tuple[Any, ...]]:
    """Result rows; `columns` are those of the input, `options` those of ROW 6.6 that are on."""
    found = matches(rows, question, clock, "match_time" in options or clock is not None)
    result = [row for one in found for row in shown(one, question, columns, options)]
    if question.empty == "unmatched":
        nothing = [None] * (
            len(question.measures) + 2 * ("match_span" in options) + ("match_time" in options)
        )
        for key, history in histories(rows, question):
            here = [one.match for one in found if one.rows == history and one.key == key]
            used = {taken.row for match in here for taken in match.path}
            used |= {match.start for match in here if not match.path}
            for row in (row for i, row in enumerate(history) if i not in used):
                result.append(all_rows(key, row, nothing, question, columns))
    return result


def shown(
    found: Found, question: RowQuestion, columns: Sequence[str], options: Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    """ROW 6.1 to 6.4, 6.6."""
    key, history, match, match_time = found
    if question.rows == "all" and question.empty == "omit" and not match.path:
        return
    span = [None, None]
    if match.path and question.time:
        span = [history[match.path[place].row][question.time] for place in (0, -1)]
    added = [*(span if "match_span" in options else []), *([match_time] if "match_time" in options else [])]
    for place in told(question, match):
        view = View(history, match.path, place, match.number, len(history), True)
        values = [*(view.value(measure) for measure in question.measures), *added]
        if question.rows == "one":
            yield (*key, *values)
        else:
            row = history[match.path[place].row if match.path else match.start]
            yield all_rows(key, row, values, question, columns)


def all_rows(
    key: Key, row: Row, values: list[Any], question: RowQuestion, columns: Sequence[str]
) -> tuple[Any, ...]:
    """ROW 6.2: ORDER BY columns, measures, the other columns; 6.6's at the end."""
    ordered = [name for name, *_ in question.order if name not in question.partition]
    others = [name for name in columns if name not in (*question.partition, *ordered)]
    n = len(question.measures)
    return (*key, *(row[name] for name in ordered), *values[:n], *(row[name] for name in others), *values[n:])


def timed_out(rows: Sequence[Row], question: RowQuestion, clock: Clock) -> list[tuple[Any, ...]]:
    """ROW 8.8: partition columns, start_time, match_time, furthest."""
    result = []
    for key, history in histories(rows, question):
        now = clock(key)
        if now is not None:
            for start, furthest in timeouts(known_at(question, history, now)):
                time = history[start][question.time]
                result.append((*key, time, time + question.within, furthest))
    return result
