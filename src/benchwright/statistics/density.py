"""Kernel density of one variable on a grid, by binning and FFT, and its local maxima."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]

# Bins per grid step: the binning error is below 1e-4 of the peak for bandwidths from 0.05.
_FINE = 16
# The kernel is cut where it is 1e-14 of its centre.
_REACH = 8.0
# Values below this share of the peak are rounding errors of the FFT.
_FLOOR = 1e-10


class Density(NamedTuple):
    """A density on an even grid over the range of the data."""

    x: Float  # (g,) grid points from the smallest to the largest value
    y: Float  # (g,) density, ≥ 0, in 1 / units of x
    std: float  # standard deviation of the values (n − 1 in the denominator)
    width: float  # standard deviation of the Gaussian kernel, `bandwidth` × std
    n: int  # number of values


class Binned(NamedTuple):
    """Values counted in fine bins, from which densities of any bandwidth are computed."""

    low: float
    high: float
    std: float  # standard deviation of the values (n − 1 in the denominator)
    n: int
    grid: int  # points at which densities are evaluated
    counts: Float  # of the bins, `_FINE` per grid step

    def density(self, bandwidth: float) -> Density:
        """Return the density with a kernel of `bandwidth` standard deviations (`gaussian_density`).

        Raises:
            ValueError: `bandwidth` is not positive.
        """
        if bandwidth <= 0:
            raise ValueError(f"bandwidth {bandwidth} must be positive")
        width = bandwidth * self.std
        step = (self.high - self.low) / ((self.grid - 1) * _FINE)
        reach = min(int(np.ceil(_REACH * width / step)), len(self.counts) - 1)
        offsets = np.arange(-reach, reach + 1) * step
        kernel = np.exp(-0.5 * (offsets / width) ** 2) / (width * np.sqrt(2 * np.pi) * self.n)
        y = _convolve(self.counts, kernel)[::_FINE]
        y[y < _FLOOR * y.max()] = 0
        x = np.linspace(self.low, self.high, self.grid)
        return Density(x, y, self.std, width, self.n)


def gaussian_density(
    values: NDArray[np.floating], bandwidth: float, grid: int = 1000
) -> Density | None:
    """Estimate the density of `values` (any shape) at `grid` even points of their range.

    `bandwidth` is the width of the Gaussian kernel in standard deviations of the values (SciPy's
    `bw_method`). None for fewer than two values, or if all are equal.

    Raises:
        ValueError: `bandwidth` is not positive or `grid` is below 3.
    """
    if bandwidth <= 0:
        raise ValueError(f"bandwidth {bandwidth} must be positive")
    binned = bin_values(lambda: iter([np.ravel(values)]), grid)
    return None if binned is None else binned.density(bandwidth)


def bin_values(parts: Callable[[], Iterator[NDArray[np.floating]]], grid: int) -> Binned | None:
    """Bin the values of all parts (flat arrays), which are gone through three times.

    None for fewer than two values, or if all are equal.

    Raises:
        ValueError: `grid` is below 3.
    """
    if grid < 3:
        raise ValueError(f"grid {grid} must be at least 3")
    n, total, low, high = 0, 0.0, np.inf, -np.inf
    for part in parts():
        if len(part):
            n += len(part)
            total += float(part.sum(dtype=np.float64))
            low, high = min(low, float(part.min())), max(high, float(part.max()))
    if n < 2 or high <= low:
        return None
    squares = sum(float(((part - np.float64(total / n)) ** 2).sum()) for part in parts())
    std = float(np.sqrt(squares / (n - 1)))
    if std == 0:
        return None
    step = (high - low) / ((grid - 1) * _FINE)
    counts = np.zeros((grid - 1) * _FINE + 1)
    for part in parts():
        counts += _linear_bins(part.astype(np.float64), low, step, len(counts))
    return Binned(low, high, std, n, grid, counts)


def local_maxima(y: Float) -> NDArray[np.intp]:
    """Return the indices of local maxima; a plateau counts at its first point, the ends do not."""
    slope = np.sign(np.diff(y))
    moving = np.flatnonzero(slope)
    turns = (slope[moving[:-1]] > 0) & (slope[moving[1:]] < 0)
    return moving[:-1][turns] + 1


def _linear_bins(values: Float, low: float, step: float, bins: int) -> Float:
    """Bin the values: each counts for its two nearest bin centres, in proportion to nearness."""
    position = (values - low) / step
    left = np.clip(position.astype(np.intp), 0, bins - 2)
    right_share = position - left
    counts: Float = np.bincount(left, 1 - right_share, bins).astype(np.float64)
    return counts + np.bincount(left + 1, right_share, bins)


def _convolve(counts: Float, kernel: Float) -> Float:
    length = len(counts) + len(kernel) - 1
    size = 1 << (length - 1).bit_length()
    product = np.fft.rfft(counts, size) * np.fft.rfft(kernel, size)
    start = len(kernel) // 2
    return np.fft.irfft(product, size)[start : start + len(counts)]
