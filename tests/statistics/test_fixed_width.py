"""Stopping at a width: the exact coverage, the level and the schedule."""

import numpy as np
import pytest

from benchwright.statistics.fixed_width import coverage, looks_at_widths
from benchwright.statistics.proportion import wilson_bounds

Z = 1.959963984540054


@pytest.mark.parametrize(("n", "width"), [(30, 0.2), (100, 0.06), (803, 0.3), (803, 0.1)])
def test_the_interval_at_stopping_covers_every_score(n: int, width: float) -> None:
    looks = looks_at_widths(width, n)
    assert coverage(looks.sizes, n, width, looks.level)[1].min() >= 0.95
    assert 0.95 <= looks.level < 0.99
    assert all(a < b for a, b in zip(looks.sizes, looks.sizes[1:], strict=False))
    assert looks.sizes[-1] == n


def test_the_coverage_is_that_of_replays() -> None:
    sizes, n, width = (20, 30, 45, 60), 90, 0.25
    score, exact = coverage(sizes, n, width, 0.95)
    at = int(np.argmin(np.abs(score - 0.8)))
    answers = (np.arange(n) < round(score[at] * n)).astype(float)
    rng = np.random.default_rng(0)
    hits, replays = 0, 4000
    for row in rng.permuted(np.tile(answers, (replays, 1)), axis=1):
        for size in sizes:
            low, high = wilson_bounds(row[:size].mean(), size * (n - 1) / (n - size), Z)
            if high - low <= width or size == sizes[-1]:
                break
        hits += bool(low <= score[at] <= high)
    assert hits / replays == pytest.approx(exact[at], abs=0.015)


def test_looking_at_ordinary_intervals_covers_too_little() -> None:
    looks = looks_at_widths(0.1, 803)
    assert coverage(looks.sizes, 803, 0.1, 0.95)[1].min() < 0.94


def test_a_budget_is_the_last_look() -> None:
    looks = looks_at_widths(0.1, 803, at_most=150)
    assert looks.sizes[-1] == 150
    assert looks_at_widths(0.1, 803, at_most=5000).sizes[-1] == 803
    assert looks_at_widths(0.1, 12, at_most=15).sizes == (12,)
