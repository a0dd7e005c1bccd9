"""Seeded generators of event data: boolean situation streams, and cars on an expressway."""

from situ.sources.synthetic import synthetic_chunks, synthetic_table
from situ.sources.traffic import TRAFFIC_SCHEMA, traffic_block

__all__ = ["TRAFFIC_SCHEMA", "synthetic_chunks", "synthetic_table", "traffic_block"]
