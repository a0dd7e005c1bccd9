"""SEM 6: situations that are given as rows, with or without begin punctuations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from oracles.derive import Situation, admissible_instant
from oracles.question import BadInput, Question, Row


def instant_of(row: Row, question: Question) -> int:
    """SEM 6.3: te, or ts when te is null (a point that is widened ends one tick later, SEM 6.2)."""
    ts, te = row[question.time], row[question.ending]
    if te is None:
        return ts
    return te + 1 if question.widen_points and te == ts else te


def given(rows: Iterable[Row], question: Question) -> dict[str, list[Situation]]:
    """The situations of one partition, per symbol."""
    found: dict[str, list[Situation]] = {symbol: [] for symbol in (*question.symbols, *question.absent)}
    for mentions in by_identity(rows, question):
        first, last = mentions[0], mentions[-1]
        ts = first[question.time]
        te = None if last[question.ending] is None else instant_of(last, question)
        instants = [instant_of(row, question) for row in mentions]
        for symbol in found:
            if question.holds[symbol](first) is not True:
                continue
            least, most = question.at_least.get(symbol), question.at_most.get(symbol)
            # The interval's own rows are its events, so a minimum is met at te (or at once when it is 0).
            admissible = admissible_instant(ts, te, instants, least, most)
            if admissible is not None:
                known = max(admissible, instants[0])
                events = tuple(zip(instants, mentions, strict=True))
                found[symbol].append(Situation(ts, te, known, events, is_given=True))
    return found


def by_identity(rows: Iterable[Row], question: Question) -> list[list[Row]]:
    """The rows of each interval: the punctuation if there is one, then the row that closes it."""
    alone: list[list[Row]] = []
    by_id: dict[object, list[Row]] = {}
    for row in sorted(rows, key=lambda row: instant_of(row, question)):
        check(row, question)
        name = None if question.id_by is None else row[question.id_by]
        if name is not None:
            by_id.setdefault(name, []).append(row)
        elif row[question.ending] is None:
            raise BadInput("te is null without an id")
        else:
            alone.append([row])
    for mentions in by_id.values():
        if [row[question.ending] is None for row in mentions] not in ([True], [False], [True, False]):
            raise BadInput("two rows begin, or two rows close, one interval")
        if not same(mentions, question):
            raise BadInput("the closing row contradicts its punctuation")
    return alone + list(by_id.values())


def same(mentions: Sequence[Row], question: Question) -> bool:
    kinds = {tuple(question.holds[symbol](row) for symbol in question.holds) for row in mentions}
    return len(kinds) == 1 and len({row[question.time] for row in mentions}) == 1


def check(row: Row, question: Question) -> None:
    """SEM 6.1."""
    ts, te = row[question.time], row[question.ending]
    if te is not None and (ts > te or (ts == te and not question.widen_points)):
        raise BadInput(f"not an interval: [{ts}, {te})")
