"""Krippendorff's alpha: his worked example and counts by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchwright.statistics.krippendorff import krippendorff_alpha, krippendorff_interval

NONE = np.nan

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section D.
EXAMPLE = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
        [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
    ]
)


@pytest.mark.parametrize(
    ("scale", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_published_example_is_reproduced(scale: Any, published: float) -> None:
    alpha = krippendorff_alpha(EXAMPLE, scale)
    assert alpha.value == pytest.approx(published, abs=5e-4)
    assert alpha.units == 11


def test_alpha_of_two_raters_equals_that_by_hand() -> None:
    # Coincidences: (0,0) 2, (0,1) 1, (1,0) 1, (1,1) 2; margins 3 and 3, n = 6.
    # D_o = 2/6, D_e = 2·3·3/(6·5) = 0.6, alpha = 1 − (1/3)/0.6 = 4/9.
    assert krippendorff_alpha([[0, 0, 1], [0, 1, 1]], "nominal").value == pytest.approx(4 / 9)


def test_alpha_is_1_for_equal_and_negative_for_opposite_ratings() -> None:
    same = [[1, 5, 3, 2], [1, 5, 3, 2]]
    assert krippendorff_alpha(same, "ordinal").value == pytest.approx(1)
    assert krippendorff_alpha([[1, 5, 1, 5], [5, 1, 5, 1]], "ordinal").value < 0


def test_ordinal_alpha_depends_on_order_only() -> None:
    stretched = np.where(EXAMPLE == 5, 50, EXAMPLE)
    ordinal = krippendorff_alpha(EXAMPLE, "ordinal").value
    assert krippendorff_alpha(stretched, "ordinal").value == pytest.approx(ordinal)
    interval = krippendorff_alpha(EXAMPLE, "interval").value
    assert krippendorff_alpha(stretched, "interval").value != pytest.approx(interval)


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        (np.full((3, 4), 2.0), "all ratings are equal"),
        (np.full((3, 4), np.nan), "no unit has ratings of two raters"),
        (np.empty((2, 0)), "no unit has ratings of two raters"),
        ([[1.0, 2.0, 3.0]], "no unit has ratings of two raters"),
        ([[1, NONE], [NONE, 2]], "no unit has ratings of two raters"),
    ],
)
def test_undefined_agreement_has_a_reason(ratings: Any, reason: str) -> None:
    generator = np.random.default_rng(0)
    alpha = krippendorff_alpha(ratings, "ordinal")
    interval = krippendorff_interval(ratings, "ordinal", 10, generator)
    assert np.isnan(alpha.value)
    assert reason in alpha.reason
    assert np.isnan(interval.low)
    assert reason in interval.reason


def test_one_rated_unit_has_no_interval() -> None:
    assert (
        "one unit"
        in krippendorff_interval([[1], [2]], "nominal", 9, np.random.default_rng()).reason
    )


@given(
    arrays(np.float64, (3, 8), elements=st.sampled_from([1.0, 2.0, 3.0, 4.0, np.nan])),
    st.permutations(range(8)),
    st.permutations(range(3)),
)
def test_alpha_does_not_depend_on_the_order_of_raters_and_units(
    ratings: np.ndarray, units: list[int], raters: list[int]
) -> None:
    for scale in ("nominal", "ordinal", "interval"):
        first = krippendorff_alpha(ratings, scale)
        other = krippendorff_alpha(ratings[raters][:, units], scale)
        assert other.value == pytest.approx(first.value, nan_ok=True)
        assert first.reason == other.reason
        assert not first.value > 1 + 1e-9


def test_interval_has_about_its_nominal_coverage() -> None:
    generator = np.random.default_rng(7)
    truth = generator.integers(1, 6, 4000)

    def rated(n: int) -> np.ndarray:
        true = generator.choice(truth, n)
        return np.stack(
            [np.clip(true + generator.integers(-1, 2, n), 1, 5) for _ in range(3)]
        ).astype(float)

    target = krippendorff_alpha(rated(60_000), "ordinal").value
    covered = 0
    for _ in range(100):
        bounds = krippendorff_interval(rated(80), "ordinal", 100, generator)
        covered += bounds.low <= target <= bounds.high
    assert 85 <= covered <= 100
