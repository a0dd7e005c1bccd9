"""One class for each thing a state can remember; each knows how to view, fold, condense and be empty."""

from situ.engine.aggregate.components.base import Component, Fold
from situ.engine.aggregate.components.counts import Counts
from situ.engine.aggregate.components.edges import ArrowEdges, NumberEdges
from situ.engine.aggregate.components.extremes import ArrowExtremes, NumberExtremes
from situ.engine.aggregate.components.moments import Moments
from situ.engine.aggregate.components.sums import ExactSums, FloatSums

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
]
