"""Numba kernels of expressions: the functions of fdlibm, to the last bit."""
