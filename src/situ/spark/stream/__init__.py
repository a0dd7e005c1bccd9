"""Streaming DataFrames."""
