"""Batch DataFrames."""
