"""Kernels over rows."""
