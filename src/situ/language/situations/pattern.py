"""PATTERN: how situations lie to one another, and which must not be there (SEM 3, 7, 9, 10, 11).

pattern     := part AND part ...
part        := group | NO group | NO ( group AND group ... )
group       := chain ; chain ...            alternatives, over one pair of symbols
chain       := A names B [BY distance] names C ...        names := name ; name ...
             | A.ts < B.ts <= A.te + duration ...
"""

from __future__ import annotations

from collections.abc import Sequence

from situ.algebra.relations import ALL, converse
from situ.errors import AbsenceError, AlternativesError, QuerySyntaxError
from situ.language.situations.comparisons import begins_comparison, read_comparisons
from situ.language.situations.cursor import Cursor
from situ.language.situations.draft import Conjunction, Pattern, Written
from situ.language.situations.named import ONE_PASS, read_relations, unexpected
from situ.language.text.clauses import Clause
from situ.language.text.places import Place
from situ.language.text.tokens import Kind, Source, span_of


def pattern(source: Source, clause: Clause) -> Pattern:
    """Read a PATTERN clause; symbols are not yet looked up."""
    if not clause.tokens:
        raise source.error(
            QuerySyntaxError,
            "PATTERN is empty",
            clause.keyword,
            hint="write how symbols relate, as in A overlaps B",
        )
    result = Pattern(Place(source, span_of((clause.keyword, *clause.tokens))))
    _Reader(Cursor(source, clause), result).conjunction(result, nested=False)
    return result


class _Reader:
    def __init__(self, cursor: Cursor, result: Pattern) -> None:
        self.cursor = cursor
        self.result = result

    def conjunction(self, into: Conjunction, *, nested: bool) -> None:
        cursor = self.cursor
        # Brackets only group; nesting is bounded by bracket_depths.
        while True:
            if self.at_absence():
                self.absence(into)
                self.no_alternatives()
            elif cursor.peek().is_sign("("):
                cursor.next()
                self.conjunction(into, nested=True)
                cursor.next()
                self.no_alternatives()
            else:
                self.alternatives(into)
            token = cursor.peek()
            if token.kind is Kind.END or (nested and token.is_sign(")")):
                return
            if not token.is_word("AND"):
                raise unexpected(cursor, token)
            cursor.next()

    def no_alternatives(self) -> None:
        token = self.cursor.peek()
        if token.is_sign(";"):
            hint = "write the alternatives inside the brackets: (A meets B; A overlaps B)"
            raise self.cursor.error(QuerySyntaxError, "alternatives cannot follow a bracket", token, hint)

    # -- NO C during B, NO (C overlaps A AND C before B)

    def at_absence(self) -> bool:
        """Whether NO comes next, and not a symbol of that name."""
        cursor = self.cursor
        if not cursor.peek().is_word("NO"):
            return False
        behind = cursor.peek(1)
        if behind.is_sign("(") or cursor.peek(2).is_sign("."):
            return True
        if not cursor.begins_relation(1):
            return behind.is_name or behind.kind is Kind.NUMBER
        # `no during B` is a symbol called no; `NO during before B` has one called during.
        last = cursor.peek(3)
        goes_on = last.is_sign("-") or (last.is_name and not last.is_word("AND", "OR"))
        return cursor.begins_relation(2) and goes_on

    def absence(self, into: Conjunction) -> None:
        cursor = self.cursor
        keyword = cursor.next()
        if into is not self.result:
            hint = "groups are independent: join them with AND, NO C during A AND NO D during A"
            raise cursor.error(AbsenceError, "a NO group stands inside another one", keyword, hint)
        group = Conjunction(self.result.place)
        if cursor.peek().is_sign("("):
            cursor.next()
            self.conjunction(group, nested=True)
            cursor.next()
        else:
            self.alternatives(group)
        group.place = cursor.since(keyword.start)
        self.result.groups.append(group)
        self.result.mentions += group.mentions

    # -- A meets B; A overlaps B

    def alternatives(self, into: Conjunction) -> None:
        """The union of what each allows between the same two symbols."""
        cursor = self.cursor
        first = cursor.peek()
        chains = [self.chain()]
        while cursor.peek().is_sign(";"):
            cursor.next()
            if cursor.peek().kind is Kind.END:
                raise cursor.error(
                    QuerySyntaxError, "an alternative is missing after this ;", cursor.tokens[-1]
                )
            chains.append(self.chain())
        if len(chains) == 1:
            into.add(chains[0])
        else:
            into.written.append(self.union(chains, cursor.since(first.start)))
            for chain in chains:
                into.mentions += chain.mentions

    def union(self, chains: Sequence[Conjunction], place: Place) -> Written:
        pair: tuple[str, str] | None = None
        union = 0
        for chain in chains:
            self.check_no_distance(chain)
            allowed = ALL
            for left, right, relations, where in chain.written:
                pair = pair or (left, right)
                if (left, right) == pair:
                    allowed &= relations
                elif (right, left) == pair:
                    allowed &= converse(relations)
                else:
                    raise where.error(
                        AlternativesError,
                        f"alternatives must be about the same two symbols, here {pair[0]} and {pair[1]}",
                        hint="; separates alternatives for one pair; join constraints on "
                        f"different pairs with AND, or ask {ONE_PASS}",
                    )
            if not chain.written:
                hint = "leave it out: alternatives must relate two symbols"
                raise place.error(AlternativesError, "one of these alternatives is always true", hint=hint)
            union |= allowed
        assert pair is not None
        return Written(*pair, union, place)

    def check_no_distance(self, chain: Conjunction) -> None:
        places = [one.place for one in chain.distances] + [one.place for one in chain.lengths]
        if places:
            raise places[0].error(
                AlternativesError,
                "an alternative cannot have a distance of its own",
                hint="a distance may stand behind a set that it fits, A before;meets B BY AT MOST 5 minutes; "
                f"else ask {ONE_PASS}",
            )

    def chain(self) -> Conjunction:
        cursor = self.cursor
        chain = Conjunction(self.result.place)
        if begins_comparison(cursor):
            read_comparisons(cursor, chain)
        else:
            read_relations(cursor, chain)
        return chain
