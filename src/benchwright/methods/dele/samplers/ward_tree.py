"""Ward's tree (1963) of weighted points, by chains of nearest neighbours (Murtagh 1983)."""

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Labels = NDArray[np.intp]


def ward_tree(points: Float, sizes: NDArray[np.integer]) -> NDArray[np.intp]:
    """Join the two clusters whose union adds least to the squared distances from the means.

    A point of size s is s equal points. SciPy's `linkage` knows no sizes, so that thousands of
    items that few models answer in few ways cost it n² distances. Time and memory here grow with
    the square of the number of different points: 8 u² bytes.

    Args:
        points: (u, d), all different.
        sizes: (u,) at least 1.

    Returns:
        (u − 1, 2) the two nodes that each step joins, cheapest first; step i makes node u + i.
    """
    u = len(points)
    apart, weight = _costs(points, sizes), np.asarray(sizes, dtype=np.float64)
    pairs = np.empty((max(u - 1, 0), 2), dtype=np.intp)
    heights = np.empty(len(pairs))
    chain: list[int] = []
    for step in range(len(pairs)):
        x, y = _nearest_to_each_other(apart, weight, chain)
        pairs[step], heights[step] = (x, y), apart[x, y]
        _join(apart, weight, x, y)
    return _numbered(pairs[np.argsort(heights, kind="stable")], u)


def cut_tree(merges: NDArray[np.intp], u: int, k: int) -> Labels:
    """Labels 0 … k − 1 of u points after the first u − k steps."""
    node = list(range(2 * u - 1))  # single numbers are read faster from a list
    for step, (x, y) in zip(range(u - k - 1, -1, -1), merges[: u - k][::-1].tolist(), strict=True):
        node[x] = node[y] = node[u + step]
    return np.unique(node[:u], return_inverse=True)[1].astype(np.intp)


def _costs(points: Float, sizes: NDArray[np.integer]) -> Float:
    """(u, u) twice what each union adds, 2st/(s + t) × squared distance; the diagonal is ∞."""
    square = (points**2).sum(axis=1)
    apart = points @ points.T
    apart *= -2
    apart += square[:, None]
    apart += square
    np.maximum(apart, 0, out=apart)
    for row, size in enumerate(sizes.tolist()):
        apart[row] *= 2 * size * sizes / (size + sizes)
    np.fill_diagonal(apart, np.inf)
    return np.asarray(apart)


def _nearest_to_each_other(apart: Float, weight: Float, chain: list[int]) -> tuple[int, int]:
    """Follow nearest neighbours until two are each other's; these leave the chain."""
    if not chain:
        chain.append(int(np.argmax(weight > 0)))
    while True:
        last = apart[chain[-1]]
        nearest = int(last.argmin())
        if len(chain) > 1 and last[chain[-2]] <= last[nearest]:
            return chain.pop(), chain.pop()
        chain.append(nearest)


def _join(apart: Float, weight: Float, x: int, y: int) -> None:
    """Cluster y becomes the union, x is no more (Lance & Williams 1967)."""
    both = weight[x] + weight[y]
    row = (weight[x] + weight) * apart[x] + (weight[y] + weight) * apart[y] - weight * apart[x, y]
    row /= both + weight
    row[weight == 0] = row[[x, y]] = np.inf
    weight[x], weight[y] = 0, both
    apart[y], apart[:, y] = row, row
    apart[x], apart[:, x] = np.inf, np.inf


def _numbered(pairs: NDArray[np.intp], u: int) -> NDArray[np.intp]:
    """Clusters by the number of their node instead of one of their points."""
    node = np.arange(u)
    top = np.arange(u)

    def root(point: int) -> int:
        while top[point] != point:
            top[point] = top[top[point]]
            point = int(top[point])
        return point

    out = np.empty_like(pairs)
    for step, (x, y) in enumerate(pairs.tolist()):
        a, b = root(x), root(y)
        out[step] = sorted((node[a], node[b]))
        top[a] = b
        node[b] = u + step
    return out
