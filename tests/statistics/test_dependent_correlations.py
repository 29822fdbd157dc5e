"""Williams' test: simulated level, symmetry, undefined cases."""

import numpy as np
import pytest
from scipy import stats

from benchwright.statistics.rank_agreement import pearson_rows, williams_test


def test_t_statistic_equals_that_by_hand() -> None:
    # |R| = 1 − .25 − .09 − .16 + 2·.5·.3·.4 = .62; mean .4
    # t = .2·√(102·1.4 / (2·102/100·.62 + .16·.6³))
    seen = williams_test(0.5, 0.3, 0.4, 103)
    expected = 0.2 * np.sqrt(102 * 1.4 / (2 * 102 / 100 * 0.62 + 0.16 * 0.216))
    assert seen.t == pytest.approx(expected)
    assert (seen.df, seen.n, seen.reason) == (100, 103, "")
    assert seen.p_value == pytest.approx(2 * stats.t.sf(expected, 100))


def test_sign_follows_the_larger_correlation() -> None:
    positive, negative = williams_test(0.8, 0.6, 0.7, 20), williams_test(0.6, 0.8, 0.7, 20)
    assert positive.t == pytest.approx(-negative.t)
    assert positive.t > 0
    assert positive.p_value == pytest.approx(negative.p_value)
    assert williams_test(0.6, 0.6, 0.7, 20).p_value == 1


def test_false_positive_rate_is_5_percent() -> None:
    rng = np.random.default_rng(8)
    j, k, h = (rng.normal(size=(2_000, 16)) for _ in range(3))
    j, k, h = j + k + h, k + 0.5 * j, h + 0.5 * j
    columns = zip(pearson_rows(j, k), pearson_rows(j, h), pearson_rows(k, h), strict=True)
    p_values = np.array([williams_test(*map(float, row), 16).p_value for row in columns])
    assert 0.035 < (p_values < 0.05).mean() < 0.065


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
    assert np.isnan(seen.p_value)
