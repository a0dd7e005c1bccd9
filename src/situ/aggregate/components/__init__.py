"""One class for each thing a state can remember; each knows how to view, fold, condense and be empty."""

from situ.aggregate.components.base import Component, Fold
from situ.aggregate.components.counts import Counts
from situ.aggregate.components.edges import ArrowEdges, NumberEdges
from situ.aggregate.components.extremes import ArrowExtremes, NumberExtremes
from situ.aggregate.components.moments import Moments
from situ.aggregate.components.sums import ExactSums, FloatSums
from situ.aggregate.components.values import Values

__all__ = [
    "ArrowEdges",
    "ArrowExtremes",
    "Component",
    "Counts",
    "ExactSums",
    "FloatSums",
    "Fold",
    "Moments",
    "NumberEdges",
    "NumberExtremes",
    "Values",
]
