"""Blocks of rows that fit into memory."""

from collections.abc import Iterator


def row_blocks(rows: int, row_size: int, block_size: int) -> Iterator[slice]:
    """Yield slices of at most `block_size` in all, of one row at least; one where there is none."""
    step = max(1, block_size // max(row_size, 1))
    for start in range(0, max(rows, 1), step):
        yield slice(start, start + step)
