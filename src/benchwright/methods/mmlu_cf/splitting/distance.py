"""How far apart the distributions of two halves are, beside what chance would give."""

from math import nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.seeding import stage_generator
from benchwright.tables.mmlu_cf import HalfDistances

_DRAWS = 1000


class TwoSampleDistance(NamedTuple):
    """Distances of two samples over categories; `reason` says why figures are NaN.

    Attributes:
        total_variation: half the sum of the differences of shares, 0–1.
        expected: its mean over random halves of the same sizes.
        chance_95: it stays below this in 95% of random halves.
        ks: the largest difference of cumulative shares, for ordered categories, 0–1.
        chi_square: Pearson's statistic of equal distributions.
        degrees: of its freedom.
        p_value: of so large a statistic by chance; near 1 where halves were matched.
    """

    total_variation: float
    expected: float
    chance_95: float
    ks: float
    chi_square: float
    degrees: int
    p_value: float
    reason: str = ""


def two_sample_distance(
    first: NDArray[np.integer],
    second: NDArray[np.integer],
    generator: np.random.Generator,
    draws: int = _DRAWS,
) -> TwoSampleDistance:
    """The distance of two samples from their counts (k,) per category, in order.

    Chance is the hypergeometric draw of the first sample from both together.
    """
    from scipy.special import chdtrc

    whole = first + second
    n, m = int(first.sum()), int(second.sum())
    if not n or not m:
        return TwoSampleDistance(*(nan,) * 5, 0, nan, "one half is empty")
    used = whole > 0
    a, b, both = first[used], second[used], whole[used]
    drawn = generator.multivariate_hypergeometric(both, n, size=draws, method="marginals")
    by_chance = np.abs(drawn / n - (both - drawn) / m).sum(axis=1) / 2
    difference = a / n - b / m
    expected = np.outer([n, m], both) / (n + m)
    chi_square = float((((np.stack([a, b]) - expected) ** 2) / expected).sum())
    degrees = len(both) - 1
    return TwoSampleDistance(
        float(np.abs(difference).sum() / 2),
        float(by_chance.mean()),
        float(np.quantile(by_chance, 0.95)),
        float(np.abs(np.cumsum(difference)).max()),
        chi_square,
        degrees,
        float(chdtrc(degrees, chi_square)) if degrees else 1.0,
    )


def half_distances(assignment: pd.DataFrame, seed: int) -> pd.DataFrame:
    """A `HalfDistances` table: field, difficulty and stratum of a `SplitAssignment`.

    `ks` is told of the difficulty alone, since the others have no order.
    """
    generator = stage_generator(seed, "half_distances")
    public = assignment["half"].eq("validation")
    rows: list[tuple[Any, ...]] = []
    for attribute in ("field", "difficulty", "stratum"):
        values = assignment[attribute]
        values = values.fillna(-1) if attribute == "difficulty" else values.astype(str)
        names, codes = np.unique(values.to_numpy(), return_inverse=True)
        first = np.bincount(codes[public], minlength=len(names))
        second = np.bincount(codes[~public], minlength=len(names))
        found = two_sample_distance(first, second, generator)
        if attribute != "difficulty":
            found = found._replace(ks=nan)
        rows.append((attribute, int(first.sum()), int(second.sum()), *found))
    return HalfDistances.from_rows(rows)
