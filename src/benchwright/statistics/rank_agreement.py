"""Rank correlations and rank shifts between two sets of scores of the same models.

Functions named `…_rows` take many sets of scores, one a row: `x` (m,), (1, m) or (s, m) and `y`
(s, m); the others take two vectors (m,). Higher is better. Models whose score is missing (NaN) in
either are left out of that row. Undefined metrics are NaN, single ones with a reason.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float = NDArray[np.float64]

FEWEST_MODELS = 3  # with two models every correlation is −1 or +1


def complete_rows(x: ArrayLike, y: ArrayLike) -> tuple[Float, Float]:
    """Return `x` (1, m) or (s, m) and `y` (s, m) with NaN in the same places of every row.

    One row of `x` stays one row where nothing is missing.

    Raises:
        ValueError: the two do not hold the same models, or not the same number of rows.
    """
    a = np.atleast_2d(np.asarray(x, dtype=np.float64))
    b = np.atleast_2d(np.asarray(y, dtype=np.float64))
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1] or len(a) not in {1, len(b)}:
        raise ValueError(f"expected rows of equal length, got {a.shape} and {b.shape}")
    missing = np.isnan(a) | np.isnan(b)
    if not missing.any():
        return a, b
    return np.where(missing, np.nan, a), np.where(missing, np.nan, b)


def ranks_rows(scores: Float) -> Float:
    """Rank each row (s, m): 1 is the best, ties share their average, NaN stays NaN."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-scores, axis=1, nan_policy="omit"), dtype=np.float64)


def pearson_rows(x: ArrayLike, y: ArrayLike) -> Float:
    """Return Pearson's correlation (s,); NaN with fewer than three models or no spread."""
    a, b = complete_rows(x, y)
    if b.shape[1] < FEWEST_MODELS:
        return np.full(len(b), np.nan)
    with np.errstate(invalid="ignore"):
        return np.clip((_standardised(a) * _standardised(b)).sum(axis=1), -1, 1)


def spearman_rows(x: ArrayLike, y: ArrayLike) -> Float:
    """Return Spearman's correlation (s,): Pearson's of the average ranks."""
    a, b = complete_rows(x, y)
    return pearson_rows(ranks_rows(a), ranks_rows(b))


def mean_rank_shift_rows(x: ArrayLike, y: ArrayLike) -> Float:
    """Return the mean |rank in x − rank in y| (s,); NaN with fewer than two models."""
    a, b = complete_rows(x, y)
    return mean_shift_of_ranks(ranks_rows(a), ranks_rows(b))


def mean_shift_of_ranks(x: Float, y: Float) -> Float:
    """Return the mean |x − y| (s,) of ranks; NaN with fewer than two models."""
    return row_means(np.abs(x - y), fewest=2)


def row_means(values: Float, fewest: int = 1) -> Float:
    """Return the mean of each row (s,) without NaN; NaN with fewer than `fewest` values."""
    known = ~np.isnan(values)
    n = known.sum(axis=1)
    total = np.where(known, values, 0).sum(axis=1)
    return np.where(n >= fewest, total / np.maximum(n, 1), np.nan)


def _standardised(values: Float) -> Float:
    """Rows centred to mean 0 and scaled to length 1, missing values 0; NaN where no correlation is.

    The first scaling keeps tiny spreads from 0/0.
    """
    known = ~np.isnan(values)
    n = known.sum(axis=1, keepdims=True)
    filled = np.where(known, values, 0)
    centre = filled.sum(axis=1, keepdims=True) / np.maximum(n, 1)
    centred: Float = np.where(known, values - centre, 0)
    low = np.where(known, values, np.inf).min(axis=1, keepdims=True, initial=np.inf)
    high = np.where(known, values, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
    defined = (n >= FEWEST_MODELS) & (low < high)
    largest = np.abs(centred).max(axis=1, keepdims=True, initial=0)
    centred /= np.where(defined, largest, np.nan)
    return np.asarray(centred / np.linalg.norm(centred, axis=1, keepdims=True))


_BLOCK_BYTES = 1 << 28
_BYTES_PER_CELL = 96  # working memory for one score
# In runs of this length all pairs are compared, which is faster than sorting.
_RUN = 16


def kendall_tau_b_rows(x: ArrayLike, y: ArrayLike) -> Float:
    """Return Kendall's tau-b (s,) of scores `x` (m,) or (s, m) with each row of `y` (s, m).

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
    """Return the number of each place's run of equal values (r, m) in sorted rows."""
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

    Bits are processed from the highest down. Values that agree in the higher bits form a run of
    known width. In a run, each value without the bit is inverted with those before it that have the
    bit; a stable partition by the bit then gives the next, shorter runs.
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
        # Positions of the zeros in their run, minus those that they have among themselves.
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
    inversions = np.zeros(places.shape[1], dtype=np.uint8)  # at most _RUN · (_RUN − 1) / 2 = 120
    for first in range(width - 1):
        for second in range(first + 1, width):
            inversions += places[first] > places[second]
    return inversions.reshape(s, -1).sum(axis=1, dtype=np.int64)


class Coefficient(NamedTuple):
    """A metric over n models; `reason` says why `value` is NaN and is "" otherwise."""

    value: float
    n: int
    reason: str = ""


class RankShift(NamedTuple):
    """Mean and largest absolute change of rank over n models, in ranks."""

    mean: float
    largest: float
    n: int
    reason: str = ""


def ranks(scores: ArrayLike) -> NDArray[np.float64]:
    """Rank scores (m,): 1 is the best, ties share their average, NaN stays NaN."""
    return ranks_rows(np.asarray(scores, dtype=np.float64)[None, :])[0]


def kendall_tau_b(x: ArrayLike, y: ArrayLike) -> Coefficient:
    """Return Kendall's tau-b in [−1, 1] (Kendall 1945), as `kendall_tau_b_rows`."""
    return _coefficient(kendall_tau_b_rows, x, y)


def pearson(x: ArrayLike, y: ArrayLike) -> Coefficient:
    """Return Pearson's correlation of the scores, in [−1, 1]."""
    return _coefficient(pearson_rows, x, y)


def spearman(x: ArrayLike, y: ArrayLike) -> Coefficient:
    """Return Spearman's correlation, in [−1, 1]."""
    return _coefficient(spearman_rows, x, y)


def rank_shift(x: ArrayLike, y: ArrayLike) -> RankShift:
    """Return the mean and largest |rank in x − rank in y|."""
    a, b = _complete(x, y)
    if len(a) < 2:
        return RankShift(np.nan, np.nan, len(a), _too_few(len(a), 2))
    shift = np.abs(ranks(a) - ranks(b))
    return RankShift(float(shift.mean()), float(shift.max()), len(a))


def _complete(x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"expected two vectors of equal length, got {a.shape} and {b.shape}")
    known = ~(np.isnan(a) | np.isnan(b))
    return a[known], b[known]


def _coefficient(
    rows: Callable[[ArrayLike, ArrayLike], Float], x: ArrayLike, y: ArrayLike
) -> Coefficient:
    a, b = _complete(x, y)
    if len(a) < FEWEST_MODELS:
        return Coefficient(np.nan, len(a), _too_few(len(a), FEWEST_MODELS))
    if a.min() == a.max() or b.min() == b.max():
        reason = "all models have the same score, so there is no order to compare"
        return Coefficient(np.nan, len(a), reason)
    return Coefficient(float(rows(a, b[None, :])[0]), len(a))


def _too_few(n: int, needed: int) -> str:
    return f"{n} model{'' if n == 1 else 's'}; at least {needed} are needed"


class Williams(NamedTuple):
    """Williams' test over n models; `reason` says why the metrics are NaN, "" otherwise."""

    t: float
    p_value: float
    df: int
    n: int
    reason: str = ""


def williams_test(r_jk: float, r_jh: float, r_kh: float, n: int) -> Williams:
    """Test whether the correlations of j with k and of j with h are equal, two-sided.

    All three are Pearson's over the same n models: j could be a human rating, k and h accuracy on
    all and on the kept items. t has n − 3 degrees of freedom; t > 0 where r_jk is the larger.
    NaN with a reason where a correlation is missing, with fewer than four models, and where k and
    h are the same variable up to scale or the three correlations cannot go together.
    """
    from scipy.special import stdtr

    reason = _why_not(r_jk, r_jh, r_kh, n)
    if reason:
        return Williams(np.nan, np.nan, max(n - 3, 0), n, reason)
    determinant = 1 - r_jk**2 - r_jh**2 - r_kh**2 + 2 * r_jk * r_jh * r_kh
    mean = (r_jk + r_jh) / 2
    spread = 2 * (n - 1) / (n - 3) * max(determinant, 0.0) + mean**2 * (1 - r_kh) ** 3
    if spread <= 0:
        return Williams(np.nan, np.nan, n - 3, n, "the correlations are perfect")
    t = float((r_jk - r_jh) * np.sqrt((n - 1) * (1 + r_kh) / spread))
    return Williams(t, float(2 * stdtr(n - 3, -abs(t))), n - 3, n)


def _why_not(r_jk: float, r_jh: float, r_kh: float, n: int) -> str:
    if n < 4:
        return f"{n} model{'' if n == 1 else 's'}; at least 4 are needed"
    if np.isnan([r_jk, r_jh, r_kh]).any():
        return "a correlation is missing"
    if max(abs(r_jk), abs(r_jh), abs(r_kh)) > 1 + 1e-12:
        return "a correlation lies outside −1 to 1"
    if r_kh >= 1 - 1e-12:
        return "the two scores compared are the same up to scale"
    if 1 - r_jk**2 - r_jh**2 - r_kh**2 + 2 * r_jk * r_jh * r_kh < -1e-9:
        return "no three variables have these correlations"
    return ""
