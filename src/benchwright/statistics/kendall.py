"""Kendall's tau-b of many pairs of scorings at once, in O(m log m) each (Kendall 1945)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchwright.statistics.correlation_rows import FEWEST_MODELS, Float, complete_rows

_BLOCK_BYTES = 1 << 28
_BYTES_PER_CELL = 96  # what one score of a row takes while its row is worked on
# Within runs of so many elements all pairs are compared, which is faster than sorting them.
_RUN = 16


def kendall_tau_b_rows(x: ArrayLike, y: ArrayLike) -> Float:
    """Kendall's tau-b (s,) in [−1, 1] of scores `x` (m,) or (s, m) with each row of `y` (s, m).

    (C − D) / √((P − Tx)(P − Ty)): concordant and discordant pairs of P = n(n−1)/2, Tx and Ty the
    pairs tied in x and in y. Models with NaN in a row are left out of that row. NaN where a row has
    fewer than three models or all of them tie in either. Discordant pairs are the inversions of a
    permutation, counted bit by bit for all rows of a block; a block takes at most 256 MiB, or one
    row.

    Raises:
        ValueError: the two do not hold the same models, or not the same number of rows.
    """
    a, b = complete_rows(x, y)
    step = max(1, _BLOCK_BYTES // (_BYTES_PER_CELL * max(b.shape[1], 1)))
    out = np.full(len(b), np.nan)
    for start in range(0, len(b), step):
        rows = slice(start, start + step)
        out[rows] = _tau_b(a if len(a) == 1 else a[rows], b[rows])
    return out


def _tau_b(x: Float, y: Float) -> Float:
    """Tau-b of a block of rows whose NaN agree."""
    models = np.count_nonzero(~np.isnan(y), axis=1)
    order = np.argsort(x, axis=1, kind="stable")  # NaN last; they tie with nothing
    x = np.take_along_axis(x, order, axis=1)
    y = y[:, order[0]] if len(x) == 1 else np.take_along_axis(y, order, axis=1)
    tied_x = x[:, 1:] == x[:, :-1]
    group = _group_numbers(tied_x)

    by_y = np.argsort(y, axis=1, kind="stable")
    y = np.take_along_axis(y, by_y, axis=1)
    tied_y = y[:, 1:] == y[:, :-1]
    sequence = group[0][by_y] if len(group) == 1 else np.take_along_axis(group, by_y, axis=1)
    tied_both = tied_y & (sequence[:, 1:] == sequence[:, :-1])

    pairs = models * (models - 1) // 2
    untied_x, untied_y = pairs - _pairs_in_runs(tied_x), pairs - _pairs_in_runs(tied_y)
    discordant = _inversions(np.argsort(sequence, axis=1, kind="stable"))
    concordance = untied_x + untied_y - pairs + _pairs_in_runs(tied_both) - 2 * discordant
    with np.errstate(invalid="ignore", divide="ignore"):
        # The root of the product, not the product of roots: equal orders give exactly 1.
        tau = np.clip(concordance / np.sqrt(untied_x.astype(np.float64) * untied_y), -1, 1)
    tau[(models < FEWEST_MODELS) | (untied_x == 0) | (untied_y == 0)] = np.nan
    return tau


def _group_numbers(tied: NDArray[np.bool_]) -> NDArray[np.unsignedinteger]:
    """Number of the run of equal values (r, m) that each place of a sorted row belongs to."""
    # 16-bit integers have a stable sort in linear time.
    kind = np.uint16 if tied.shape[1] < 1 << 16 else np.uint32
    out: NDArray[np.unsignedinteger] = np.zeros((len(tied), tied.shape[1] + 1), dtype=kind)
    np.cumsum(~tied, axis=1, dtype=kind, out=out[:, 1:])
    return out


def _pairs_in_runs(tied: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Pairs (r,) of equal values, from what is equal to its neighbour in sorted rows."""
    places = np.arange(1, tied.shape[1] + 1)
    # The k-th place of a run, counted from 0, closes k pairs.
    run_start = np.maximum.accumulate(np.where(tied, 0, places), axis=1)
    return np.where(tied, places - run_start, 0).sum(axis=1, dtype=np.int64)


def _inversions(permutations: NDArray[np.intp]) -> NDArray[np.int64]:
    """Pairs (s,) in the wrong order in each row of `permutations` (s, m) of 0 … m − 1.

    From the highest bit down: the values that agree in the higher bits are as many as places, so
    they sit in runs of known width. Within a run, each value without the bit is passed by the ones
    with the bit before it; then the two kinds are set apart, each in its order.
    """
    s, m = permutations.shape
    bits = max(m - 1, 0).bit_length()
    width = 1 << bits
    values = np.empty((s, width), dtype=np.uint16 if bits <= 16 else np.uint32)
    values[:, :m] = permutations
    values[:, m:] = np.arange(m, width)
    count = np.zeros(s, dtype=np.int64)
    while width > _RUN:
        half = width // 2
        flat = values.ravel()
        bit = (flat & half) != 0
        zeros, ones = np.flatnonzero(~bit), np.flatnonzero(bit)
        # Places of the zeros in their run, less the places they take among themselves.
        before = (zeros & (width - 1)).reshape(s, -1).sum(axis=1)
        count += before - (values.shape[1] // width) * (half * (half - 1) // 2)
        halves = np.stack([flat[zeros].reshape(-1, half), flat[ones].reshape(-1, half)], axis=1)
        values = halves.reshape(s, -1)
        width = half
    return count + _inversions_within(values, width)


def _inversions_within(values: NDArray[np.unsignedinteger], width: int) -> NDArray[np.int64]:
    """Inversions (s,) inside consecutive runs of `width` places, by comparing all their pairs."""
    s = len(values)
    places = np.ascontiguousarray(values.reshape(-1, width).T)
    found = np.zeros(places.shape[1], dtype=np.uint8)  # at most _RUN · (_RUN − 1) / 2 = 120
    for first in range(width - 1):
        for second in range(first + 1, width):
            found += places[first] > places[second]
    return found.reshape(s, -1).sum(axis=1, dtype=np.int64)
