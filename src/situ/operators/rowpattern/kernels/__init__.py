"""Kernels of row patterns."""
