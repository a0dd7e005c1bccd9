"""Experiments that measure situ, its baselines and its peers; see docs/benchmarks/index.md."""
