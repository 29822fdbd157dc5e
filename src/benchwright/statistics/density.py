"""Kernel density of one variable on a grid, by binning and FFT, and its local maxima."""

from typing import NamedTuple

import numpy as np

from benchwright.core.array_types import AnyFloats, Floats, Integers, Places

# Bins per grid step: the binning error is below 1e-4 of the peak for bandwidths from 0.05.
_FINE = 16
# The kernel is cut where it is 1e-14 of its centre.
_REACH = 8.0
# Values below this share of the peak are rounding errors of the FFT.
_FLOOR = 1e-10


class Density(NamedTuple):
    """A density on an even grid over the range of the data."""

    x: Floats  # (g,) grid points from the smallest to the largest value
    y: Floats  # (g,) density, ≥ 0, in 1 / units of x


class Binned(NamedTuple):
    """Values counted in fine bins, from which densities of any bandwidth are computed."""

    low: float
    high: float
    std: float  # standard deviation of the values (n − 1 in the denominator)
    n: int
    grid: int  # points at which densities are evaluated
    counts: Floats  # of the bins, `_FINE` per grid step

    def density(self, bandwidth: float) -> Density:
        """Return the density with a Gaussian kernel of `bandwidth` > 0 standard deviations.

        That is SciPy's `bw_method`.
        """
        from scipy.signal import fftconvolve

        width = bandwidth * self.std
        step = (self.high - self.low) / ((self.grid - 1) * _FINE)
        reach = min(int(np.ceil(_REACH * width / step)), len(self.counts) - 1)
        offsets = np.arange(-reach, reach + 1) * step
        area = width * np.sqrt(2 * np.pi) * self.n
        kernel = np.exp(-0.5 * (offsets / width) ** 2) / area
        y = np.asarray(fftconvolve(self.counts, kernel, "same")[::_FINE])
        y[y < _FLOOR * y.max()] = 0
        x = np.linspace(self.low, self.high, self.grid)
        return Density(x, y)


def bin_counts(values: AnyFloats, counts: Integers, grid: int) -> Binned | None:
    """Bin distinct ascending `values` (v,), each of which occurs `counts` (v,) ≥ 1 times.

    None for fewer than two values, or if all are equal. `grid` is at least 3.
    """
    if len(values) < 2:
        return None
    exact = np.asarray(values, dtype=np.float64)
    low = float(exact[0])
    high = float(exact[-1])
    n = int(counts.sum())
    mean = exact @ counts / n
    std = float(np.sqrt(((exact - mean) ** 2) @ counts / (n - 1)))
    if std == 0:
        return None
    step = (high - low) / ((grid - 1) * _FINE)
    binned = _linear_bins(exact, counts, low, step)
    return Binned(low, high, std, n=n, grid=grid, counts=binned)


def local_maxima(y: Floats) -> Places:
    """Return the indices of local maxima; a plateau counts at its first point, the ends do not."""
    slope = np.sign(np.diff(y))
    moving = np.flatnonzero(slope)
    turns = (slope[moving[:-1]] > 0) & (slope[moving[1:]] < 0)
    return moving[:-1][turns] + 1


def _linear_bins(values: Floats, counts: Integers, low: float, step: float) -> Floats:
    """Bin the values: each counts for its two nearest bin centres, in proportion to nearness."""
    bins = round((values[-1] - low) / step) + 1
    position = (values - low) / step
    left = np.clip(position.astype(np.intp), 0, bins - 2)
    right = (position - left) * counts
    binned: Floats = np.bincount(left, counts - right, bins).astype(np.float64)
    return binned + np.bincount(left + 1, right, bins)
