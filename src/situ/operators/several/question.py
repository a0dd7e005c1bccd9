"""Several questions asked at once: `situ.match(events, {"a": q1, "b": q2})`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from situ.carry.contract import Asked, Condenses, Nested, Question, Returned, Setting, Slices
from situ.errors import DuplicateNameError, OptionError, SourceError
from situ.language.text.types import Schema, Schemas
from situ.operators.several.needs import View, together
from situ.operators.several.operator import QUERY, Condensing, SeveralOperator, Slicing, prefix_of
from situ.options import Options
from situ.rows.needs import Needs
from situ.rows.read import with_derived


@dataclass(frozen=True)
class Several:
    """Questions by name."""

    names: tuple[str, ...]
    questions: tuple[Question, ...]

    @classmethod
    def of(cls, questions: Mapping[str, Question]) -> Several:
        """Check the names."""
        if not questions:
            raise OptionError("there is no query in the dict", hint='give one or more: {"name": query}')
        seen: dict[str, str] = {}
        for name in questions:
            if not isinstance(name, str) or not name:
                raise OptionError(f"{name!r} is no name for a query", hint='give text: {"name": query}')
            if name.lower() in (QUERY, *seen):
                taken = "names the column that says whose a row is" if name.lower() == QUERY else "is taken"
                raise OptionError(f"the name {name} {taken}", hint="names may not differ in case only")
            seen[name.lower()] = name
        return cls(tuple(questions), tuple(questions.values()))

    @property
    def all_rows_count(self) -> bool:
        """Whether they do for one of them."""
        return any(question.all_rows_count for question in self.questions)

    @cached_property
    def name(self) -> str:
        """From the names and texts of all."""
        return hashlib.blake2b(json.dumps(dict(self.facts)).encode(), digest_size=4).hexdigest()

    @property
    def time(self) -> str | None:
        """That of the first which names it."""
        return next((question.time for question in self.questions if question.time), None)

    @property
    def facts(self) -> Mapping[str, Any]:
        """The call, and every query's text by name."""
        facts = [question.facts for question in self.questions]
        queries = {name: one["query"] for name, one in zip(self.names, facts, strict=True)}
        return {**facts[0], "query": queries}

    def check_options(self, given: Mapping[str, Any]) -> None:
        """Every one must take them."""
        for question in self.questions:
            question.check_options(given)

    def check_stream(self) -> None:
        """Every one must have bounded state."""
        for question in self.questions:
            question.check_stream()

    def bind(self, schema: Schema | Schemas, options: Options) -> AskedSeveral:
        """Bind every one, and put together what they need."""
        if isinstance(schema, Mapping):
            raise SourceError(
                "several queries in one pass read one table, and tables by name were given",
                hint="call situ once for each query of several sources",
            )
        asked = tuple(question.bind(schema, options) for question in self.questions)
        needs, views = together(self.names, [one.needs for one in asked])
        for column in needs.partition:
            if column.name.lower() in (QUERY, *(name.lower() for name in self.names)):
                raise DuplicateNameError(
                    f"the result of several queries has a column {column.name.lower()}, "
                    "and PARTITION BY names one",
                    hint="rename the column, or the query of that name",
                )
        return AskedSeveral(self.names, asked, needs, views)


@dataclass(frozen=True)
class AskedSeveral:
    """Several bound questions."""

    names: tuple[str, ...]
    asked: tuple[Asked, ...]
    needs: Needs
    views: tuple[View, ...]

    @property
    def returned(self) -> tuple[Returned, ...]:
        """Whose the row is, and a struct for each question, null but for its own rows."""
        structs = [
            Returned(name, Nested(prefix_of(i), QUERY, tuple(one.returned), one.having))
            for i, (name, one) in enumerate(zip(self.names, self.asked, strict=True))
        ]
        return (Returned(QUERY, QUERY), *structs)

    @property
    def having(self) -> None:
        """Each has its own."""
        return

    def operator(self, schema: pa.Schema, setting: Setting) -> SeveralOperator:
        """An operator of operators, which can do what all of them can."""
        schema = with_derived(self.needs, schema, ansi=setting.ansi, time_zone=setting.time_zone)
        operators = tuple(one.operator(schema, setting) for one in self.asked)
        kind = SeveralOperator
        if all(isinstance(one, Slices) for one in operators):
            kind = Slicing
        elif all(isinstance(one, Condenses) for one in operators):
            kind = Condensing
        return kind(self.names, operators, self.needs, self.views, schema)
