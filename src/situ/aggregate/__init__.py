"""Aggregates of situations as a columnar monoid: view events, fold ranges of them, read items."""

from situ.aggregate.overflow import AggregateOverflowError
from situ.aggregate.spec import AggregateSpec, specs_of
from situ.aggregate.states import States

__all__ = ["AggregateOverflowError", "AggregateSpec", "States", "specs_of"]
