"""Random subsets of items of one size, and proportional shares of a size (largest remainders)."""

from collections.abc import Iterator, Mapping

import numpy as np

from benchwright.core.array_types import Bools, Floats, Integers
from benchwright.statistics.row_blocks import row_blocks


def largest_remainder(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """Divide `total` among named groups in proportion to their `sizes` (≥ 0).

    Each group gets its exact share rounded down; the rest goes, one each, to the largest
    remainders, ties in order of name.
    """
    whole = sum(sizes.values())
    if whole == 0:
        return dict.fromkeys(sizes, 0)
    shares = {name: total * size // whole for name, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda name: (-(total * sizes[name] % whole), name))
    for name in by_remainder[: total - sum(shares.values())]:
        shares[name] += 1
    return shares


_BLOCK_BYTES = 1 << 27
_BYTES_PER_CELL = 32  # a uniform number, its copies to be partitioned and compared, and the mark


def draw_subsets(
    n: int,
    size: int,
    draws: int,
    generator: np.random.Generator,
    strata: Integers | None = None,
) -> Bools:
    """Draw subsets (draws, n) of n items, exactly `size` True in each row.

    Without `strata` every subset of that size is equally likely. With labels `strata` (n,) each
    stratum gets its share of `size` by largest remainder; equal remainders are settled at random in
    each draw. Within a stratum every subset is equally likely.
    """
    blocks = subset_blocks(n, size, draws, generator, strata=strata)
    return np.concatenate([np.zeros((0, n), dtype=np.bool_), *blocks])


def subset_blocks(
    n: int,
    size: int,
    draws: int,
    generator: np.random.Generator,
    strata: Integers | None = None,
    rows: int | None = None,
) -> Iterator[Bools]:
    """Yield the same subsets in blocks of `rows`, by default of 128 MiB."""
    labels = np.zeros(n, dtype=np.intp) if strata is None else np.asarray(strata)
    _, stratum, counts = np.unique(labels, return_inverse=True, return_counts=True)
    members = np.split(np.argsort(stratum, kind="stable"), np.cumsum(counts)[:-1])
    rows = rows or max(1, _BLOCK_BYTES // max(n, 1))
    for first in range(0, draws, rows):
        out = np.zeros((min(rows, draws - first), n), dtype=np.bool_)
        if not size:
            yield out
            continue
        for some in row_blocks(len(out), _BYTES_PER_CELL * n, _BLOCK_BYTES):
            block = out[some]
            uniforms = generator.random((len(block), n + len(counts)))
            extra = _extra_places(counts, size, uniforms[:, n:])
            for number, items in enumerate(members):
                whole = size * len(items) // n
                block[:, items] = _smallest(uniforms.take(items, axis=1), whole, extra[:, number])
        yield out


def _extra_places(counts: Integers, size: int, lots: Floats) -> Bools:
    """Mark the strata (draws, g) that get one more than their share rounded down."""
    whole, remainders = np.divmod(size * counts, counts.sum())
    left = size - whole.sum()
    # Remainders are whole numbers and lots lie in [0, 1): lots only break ties.
    first = np.argsort(-(remainders + lots), axis=1)[:, :left]
    out = np.zeros(lots.shape, dtype=np.bool_)
    np.put_along_axis(out, first, True, axis=1)
    return out


def _smallest(uniforms: Floats, whole: int, extra: Bools) -> Bools:
    """Mark in each row the `whole` smallest numbers, one more if `extra`."""
    if whole == uniforms.shape[1]:
        return np.ones(uniforms.shape, dtype=np.bool_)
    order = np.argpartition(uniforms, whole, axis=1)  # the next smallest is at position `whole`
    marked = np.zeros(uniforms.shape, dtype=np.bool_)
    np.put_along_axis(marked, order[:, :whole], True, axis=1)
    marked[extra, order[extra, whole]] = True
    return marked
