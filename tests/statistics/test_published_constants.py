"""Williams' test: its degrees of freedom."""

import pytest

from benchwright.statistics.rank_agreement import williams_test


@pytest.mark.parametrize("n", [4, 7, 16])
def test_williams_p_is_two_sided_on_n_minus_3_degrees_of_freedom(n: int) -> None:
    from scipy.stats import t

    seen = williams_test(0.8, 0.5, 0.7, n)
    assert seen.p_value == pytest.approx(2 * t.sf(abs(seen.t), n - 3), rel=1e-9)
