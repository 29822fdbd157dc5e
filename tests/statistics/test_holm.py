"""Holm's correction, by hand and as a property."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchwright.statistics.percentile import holm


def test_by_hand_with_a_missing_value() -> None:
    # Sorted .01 .02 .03 .04: times 4, 3, 2, 1 = .04 .06 .06 .04, never falling: .04 .06 .06 .06
    np.testing.assert_allclose(
        holm([0.04, np.nan, 0.01, 0.03, 0.02]), [0.06, np.nan, 0.04, 0.06, 0.06]
    )


@given(st.lists(st.floats(0, 1), max_size=12))
def test_between_the_p_value_and_bonferroni(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    p = np.array(p_values)
    assert (adjusted >= p).all()
    assert (adjusted <= np.minimum(1, p * max(len(p), 1)) + 1e-15).all()
    if len(p):
        assert adjusted[p.argmin()] == min(1, p.min() * len(p))
