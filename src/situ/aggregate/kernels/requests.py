"""Which requests go on where the one before them stopped."""

from situ.compiled.jit import kernel


@kernel
def goes_on(row_from, row_to, carry_idx, j):
    """Whether request j only adds rows to request j - 1, so that its accumulators stay."""
    return (
        j > 0
        and row_from[j] == row_from[j - 1]
        and carry_idx[j] == carry_idx[j - 1]
        and row_to[j] >= row_to[j - 1]
    )
