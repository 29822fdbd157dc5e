"""Williams' test: simulated level, symmetry, undefined cases."""

import numpy as np
import pytest
from scipy import stats

from benchwright.statistics.rank_agreement import williams_test


def test_t_statistic_equals_that_by_hand() -> None:
    # |R| = 1 − .25 − .09 − .16 + 2·.5·.3·.4 = .62; mean .4
    # t = .2·√(102·1.4 / (2·102/100·.62 + .16·.6³))
    seen = williams_test(0.5, 0.3, 0.4, 103)
    expected = 0.2 * np.sqrt(102 * 1.4 / (2 * 102 / 100 * 0.62 + 0.16 * 0.216))
    assert (seen.n, seen.reason) == (103, "")
    assert seen.value == pytest.approx(2 * stats.t.sf(expected, 100))


@pytest.mark.parametrize(
    ("r_jk", "r_jh", "r_kh", "n", "reason"),
    [
        (0.5, 0.4, 0.3, 3, "3 models; at least 4"),
        (np.nan, 0.4, 0.3, 10, "missing"),
        (0.5, 0.5, 1.0, 10, "same up to scale"),
        (1.0, -1.0, -1.0, 10, "perfect"),
    ],
)
def test_undefined_tests_have_a_reason(
    r_jk: float, r_jh: float, r_kh: float, n: int, reason: str
) -> None:
    seen = williams_test(r_jk, r_jh, r_kh, n)
    assert reason in seen.reason
    assert np.isnan(seen.value)
