"""Kernels over situations."""
