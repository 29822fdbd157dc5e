"""The leak test is exact: its p-values are uniform for a model that has not seen the release."""

import itertools

import numpy as np
import pytest
from scipy.stats import kstest

from benchwright.statistics.released_orders import leak_evidence

NAN = float("nan")
FEW = np.array(
    [[0.0, 3.0, NAN, NAN], [1.0, 5.0, 2.0, NAN], [9.0, 0.0, 4.0, 4.5], [7.0, 1.0, NAN, NAN]]
)
COUNTS = (2, 3, 4, 2)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def excess(released: tuple[int, ...]) -> float:
    """S by its definition."""
    parts = []
    for row, count, place in zip(FEW, COUNTS, released, strict=True):
        others = [row[at] for at in range(count) if at != place]
        parts.append(row[place] - sum(others) / len(others))
    return sum(parts) / len(parts)


def test_the_p_value_is_the_rank_among_all_keys() -> None:
    every = list(itertools.product(*map(range, COUNTS)))
    values = np.array([excess(released) for released in every])
    exact = [float((values >= value - 1e-9).mean()) for value in values]
    for released, expected in zip(every, exact, strict=True):
        found = leak_evidence(FEW, np.array(released), rng(), keys=20_000)
        assert found.excess == pytest.approx(excess(released))
        assert found.p_value == pytest.approx(expected, abs=0.015)
        assert found.spread == pytest.approx(values.std())
    for level in (0.05, 0.1, 0.25, 0.5):  # over all keys, the test errs no more often
        assert np.mean(np.array(exact) <= level) <= level


def test_p_values_are_uniform_whatever_the_scores_are() -> None:
    random = rng(1)
    scores = random.standard_cauchy((40, 4)) * random.exponential(5, (40, 1))
    scores[:10, 2:] = NAN
    counts = (~np.isnan(scores)).sum(axis=1)
    p = [
        leak_evidence(scores, random.integers(counts), random, keys=399).p_value for _ in range(400)
    ]
    assert kstest(p, "uniform").pvalue > 0.01


def test_the_order_of_rows_does_not_matter() -> None:
    random = rng(2)
    scores, released = random.normal(size=(50, 4)), random.integers(4, size=50)
    found = leak_evidence(scores, released, rng(), keys=999)
    for _ in range(5):
        order = random.permutation(50)
        assert leak_evidence(scores[order], released[order], rng(), keys=999) == found


def test_equal_scores_are_no_evidence() -> None:
    found = leak_evidence(np.full((30, 4), 0.1), np.zeros(30, dtype=int), rng())
    assert (found.p_value, found.excess) == (1.0, pytest.approx(0.0))
