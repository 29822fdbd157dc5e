"""Do two correlations that share a variable differ? (Williams 1959; Steiger 1980)"""

from typing import NamedTuple

import numpy as np


class Williams(NamedTuple):
    """Williams' test over n models; `reason` says why the figures are NaN, "" otherwise."""

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
