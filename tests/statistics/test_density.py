"""The binned density agrees with SciPy's; the definition of a peak."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gaussian_kde

from benchwright.statistics.density import Density, bin_counts, local_maxima


def gaussian_density(values, bandwidth, grid=1000) -> Density | None:
    binned = bin_counts(*np.unique(values, return_counts=True), grid)
    return binned.density(bandwidth) if binned else None


@given(
    st.integers(2, 300),
    st.floats(0.05, 0.5),
    st.integers(0, 100),
    st.floats(-1, 1),
)
def test_binned_density_equals_the_exact_one(n, bandwidth, seed, shift):
    rng = np.random.default_rng(seed)
    values = np.where(rng.random(n) < 0.3, rng.normal(0.1, 0.02, n), rng.normal(0.6, 0.1, n))
    values = values + shift
    density = gaussian_density(values, bandwidth, grid=400)
    assert density is not None
    exact = gaussian_kde(values, bw_method=bandwidth)(density.x)
    assert np.abs(density.y - exact).max() < 1e-4 * exact.max()


def test_rounding_in_gaps_gives_no_peaks():
    density = gaussian_density(np.array([0.0, 0.01, 1.0, 1.01]), 0.002)
    assert density is not None
    assert density.x[local_maxima(density.y)] == pytest.approx([0.01, 1.0], abs=0.002)
    assert (density.y >= 0).all()


@pytest.mark.parametrize("values", [[], [0.3], [0.3, 0.3, 0.3]])
def test_constant_values_have_no_density(values):
    assert gaussian_density(np.array(values), 0.15) is None


@pytest.mark.parametrize(
    ("curve", "peaks"),
    [
        ([0, 1, 0], [1]),
        ([1, 0, 1], []),
        ([3, 2, 1], []),
        ([1, 2, 3], []),
        ([0, 1, 1, 0], [1]),
        ([0, 1, 1, 2, 0, 0, 1, 0], [3, 6]),
        ([0, 0, 0], []),
        ([1, 1, 0], []),
    ],
)
def test_peaks_rise_before_and_fall_after(curve, peaks):
    assert local_maxima(np.array(curve, dtype=float)).tolist() == peaks
