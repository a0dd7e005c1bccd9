"""The tree made smaller; every rewrite keeps the words and the order in which they are preferred.

Below, [p] is the list of p's words in order of preferment, each at its first place (ROW 4.5, 4.6).
"""

from __future__ import annotations

from itertools import groupby

from situ.operators.rowpattern.ir import NOTHING, Choice, Node, Repeat, Sequence, Take, can_be_empty


def simplified(node: Node) -> Node:
    """Flattened, without what changes nothing, with common beginnings of neighbouring choices shared."""
    match node:
        case Sequence(parts):
            return _sequence(tuple(map(simplified, parts)))
        case Choice(parts):
            return _choice(tuple(map(simplified, parts)))
        case Repeat(body):
            return _repeat(simplified(body), node.least, node.most, node.is_reluctant)
        case _:
            return node


def _sequence(parts: tuple[Node, ...]) -> Node:
    flat: list[Node] = []
    for part in parts:
        flat += part.parts if isinstance(part, Sequence) else (part,)
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def _choice(parts: tuple[Node, ...]) -> Node:
    flat: list[Node] = []
    for part in parts:
        flat += part.parts if isinstance(part, Choice) else (part,)
    shared: list[Node] = []
    for first, together in groupby(dict.fromkeys(flat), key=_first_row):
        group = list(together)
        if first is None or len(group) == 1:
            shared += group
        else:  # A x | A y: A has one word, so [A x] + [A y] = [A (x | y)]
            shared.append(_sequence((first, _choice(tuple(map(_rest, group))))))
    return shared[0] if len(shared) == 1 else Choice(tuple(shared))


def _first_row(node: Node) -> Take | None:
    """The row it begins with, if that is certain and the same whatever follows."""
    head = node.parts[0] if isinstance(node, Sequence) and node.parts else node
    return head if isinstance(head, Take) else None


def _rest(node: Node) -> Node:
    return _sequence(node.parts[1:]) if isinstance(node, Sequence) else NOTHING


def _repeat(body: Node, least: int, most: int | None, is_reluctant: bool) -> Node:
    if body == NOTHING or (least, most) == (1, 1):
        return body
    if isinstance(body, Repeat):
        if least == most and body.least == body.most:  # (x{2}){3} is x{6}: written out they are the same
            return Repeat(body.body, body.least * least, body.least * least)
        if _is_optional(body) and not is_reluctant:
            # [x? q] = [x q] + [q]. Where every word of q is empty or one of x q, only the empty word is new,
            # so that (x?){n,m} is x{0,m}: an empty iteration adds nothing. With x* in the place of x? alike.
            return Repeat(body.body, 0, most if body.most == 1 else None)
    return Repeat(body, least, most, is_reluctant)


def _is_optional(node: Repeat) -> bool:
    """`x?` or `x*`, greedy, where x always takes a row."""
    return (
        node.least == 0 and node.most in (1, None) and not node.is_reluctant and not can_be_empty(node.body)
    )
