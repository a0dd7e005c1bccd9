"""What the four operators of situations share: how they are made, and what they make columns with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from situ.carry.contract import Field, Setting, Work
from situ.operators.situations.engine import Engine
from situ.operators.situations.judged import JudgedEngine, is_judged
from situ.operators.situations.look_back import look_back_of
from situ.operators.situations.looking import Looking
from situ.operators.situations.result import MatchResults, SituationResults
from situ.operators.situations.tells import TellsOfMatches
from situ.rows.kernels.numbers import NEVER
from situ.rows.needs import Needs
from situ.rows.prepared import Positions

if TYPE_CHECKING:
    from situ.operators.situations.question import AskedSituations


class SituationsOperator:
    """A bound query as an operator."""

    engine_type: type[Engine] = Engine
    judged_type: type[Engine] = JudgedEngine

    def __init__(self, asked: AskedSituations, schema: pa.Schema, setting: Setting) -> None:
        self.asked = asked
        self.schema = schema
        self.setting = setting
        self.needs: Needs = asked.needs

    def __reduce__(self) -> tuple[Any, ...]:
        # what is compiled, and what the planner has learnt, stays where it is
        return type(self), (self.asked, self.schema, self.setting)

    @cached_property
    def engine(self) -> Any:
        """The query compiled."""
        setting, is_match = self.setting, self.asked.kind == "match"
        engine_type = self.judged_type if is_judged(self.asked.bound.query) else self.engine_type
        return engine_type(
            # situations are kept whatever their age
            self.asked.bound if is_match else replace(self.asked.bound, within=None),
            ansi=setting.ansi,
            forget_after=self.asked.forget_after,
            join=setting.join,
            threads=setting.threads,
            with_count=not is_match,
        )

    @cached_property
    def looking(self) -> Looking | None:
        """The conditions that look back, compiled; None for none."""
        look_back, setting = look_back_of(self.asked.bound), self.setting
        if look_back is None:
            return None
        forget_after = int(self.engine.spec.forget_after)
        return Looking(look_back, self.schema, forget_after, ansi=setting.ansi, time_zone=setting.time_zone)

    @cached_property
    def identity(self) -> bytes:
        """The query, the types of its columns, and options that state depends on."""
        return self.asked.identity(self.schema)

    def work(self) -> Work:
        """The plan, and the candidates that all joins have looked at."""
        so_far: Work = self.engine.work_so_far()
        return so_far

    def next_due(self, kept: Any) -> Positions:
        """Results come with rows."""
        return np.full(kept.n_slots, NEVER)


class OfMatches(TellsOfMatches, SituationsOperator):
    """One that gives matches."""

    @cached_property
    def results(self) -> MatchResults:
        """Makes columns."""
        asked = self.asked
        return MatchResults(asked.bound, self.schema, self.engine, self.setting, with_id=asked.match_id)

    @cached_property
    def output(self) -> Sequence[Field]:
        """RETURN's columns, or its items where Spark evaluates it; match_time, match_id."""
        return self.results.output


class OfSituations(SituationsOperator):
    """One that gives the situations themselves."""

    @cached_property
    def results(self) -> SituationResults:
        """Makes columns."""
        return SituationResults(self.asked.bound, self.schema, self.engine, self.setting)

    @cached_property
    def output(self) -> Sequence[Field]:
        """symbol, ts, te, n_events, and aggregates."""
        return self.results.output
