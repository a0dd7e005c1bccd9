"""Numba kernels of the aggregates. Requests are three int64[m]: row_from, row_to, carry_idx (see `fold`)."""
