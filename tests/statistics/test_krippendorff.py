"""Krippendorff's alpha: his worked example and counts by hand."""

from typing import Any

import numpy as np
import pytest

from benchwright.statistics.krippendorff import Alpha, Scale, krippendorff_alpha

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


def alpha_of(ratings: Any, scale: Scale, draws: int = 10) -> Alpha:
    table = np.asarray(ratings, dtype=np.float64)
    return krippendorff_alpha(table, scale, draws, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("scale", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_published_example_is_reproduced(scale: Scale, published: float) -> None:
    alpha = alpha_of(EXAMPLE, scale, 200)
    assert alpha.value == pytest.approx(published, abs=5e-4)
    assert alpha.units == 11
    assert alpha.low < alpha.value < alpha.high


def test_alpha_of_two_raters_equals_that_by_hand() -> None:
    # Coincidences: (0,0) 2, (0,1) 1, (1,0) 1, (1,1) 2; margins 3 and 3, n = 6.
    # D_o = 2/6, D_e = 2·3·3/(6·5) = 0.6, alpha = 1 − (1/3)/0.6 = 4/9.
    assert alpha_of([[0, 0, 1], [0, 1, 1]], "nominal").value == pytest.approx(4 / 9)


def test_ordinal_alpha_depends_on_order_only() -> None:
    stretched = np.where(EXAMPLE == 5, 50, EXAMPLE)
    ordinal, interval = (alpha_of(EXAMPLE, scale).value for scale in ("ordinal", "interval"))
    assert alpha_of(stretched, "ordinal").value == pytest.approx(ordinal)
    assert alpha_of(stretched, "interval").value != pytest.approx(interval)


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        (np.full((3, 4), 2.0), "all ratings are equal"),
        (np.empty((2, 0)), "no unit has ratings of two raters"),
        ([[1, NONE], [NONE, 2]], "no unit has ratings of two raters"),
        ([[1], [2]], "one unit"),
    ],
)
def test_undefined_agreement_has_a_reason(ratings: Any, reason: str) -> None:
    alpha = alpha_of(ratings, "ordinal")
    assert np.isnan(alpha.value) == (reason != "one unit")
    assert np.isnan(alpha.low)
    assert reason in alpha.reason
