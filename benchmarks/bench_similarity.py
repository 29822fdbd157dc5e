"""Time and memory of neighbours: `python benchmarks/bench_similarity.py [vectors.npy]`.

Ours and scikit-learn's brute-force search run in a process of their own each. Without a file the
vectors are drawn at random, as many as MMLU has items.
"""

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ITEMS, DIMENSIONS, K = 14_042, 384, 100
MIB = 1 << 20


class Cost(NamedTuple):
    """Seconds of one run, and memory in MiB beyond that of the loaded libraries and the input."""

    seconds: float
    mebibytes: float
    result: NDArray[np.float64]


def vectors(count: int, file: Path | None) -> NDArray[np.float32]:
    if file is not None:
        return np.asarray(np.load(file), dtype=np.float32)
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(200, DIMENSIONS))
    noise = rng.normal(size=(count, DIMENSIONS))
    return (centres[rng.integers(0, 200, count)] + 1.5 * noise).astype(np.float32)


def our_neighbours(data: NDArray[np.float32]) -> Callable[[], NDArray[np.float64]]:
    from benchwright.statistics.nearest_neighbours import exact_blocks

    return lambda: np.concatenate([near.distances for _, near in exact_blocks(data, K)])


def sklearn_neighbours(data: NDArray[np.float32]) -> Callable[[], NDArray[np.float64]]:
    from sklearn.neighbors import NearestNeighbors

    def run() -> NDArray[np.float64]:
        search = NearestNeighbors(n_neighbors=K, metric="cosine", algorithm="brute").fit(data)
        return np.asarray(search.kneighbors()[0], dtype=np.float64)

    return run


def measure(prepare: str, data: NDArray[np.floating]) -> Cost:
    """Run in this process, after a small run that loads what is loaded once."""
    make = globals()[prepare]
    make(data[: 2 * K])()
    run = make(data)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    result = run()
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Cost(seconds, (peak - before) * 1024 / MIB, result)


def compare(ours: str, theirs: str, data: NDArray[np.floating], apart: bool) -> None:
    costs = []
    for prepare in (ours, theirs):
        if apart:
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                cost = pool.apply(measure, (prepare, data))
        else:
            cost = measure(prepare, data)
        print(f"{prepare:20} {cost.seconds:8.2f} s {cost.mebibytes:8.0f} MiB", flush=True)
        costs.append(cost)
    mine, other = costs
    difference = np.abs(mine.result - other.result).max() / np.abs(other.result).max()
    print(
        f"{'ratio':20} {mine.seconds / other.seconds:8.3f}   "
        f"{mine.mebibytes / max(other.mebibytes, 1):8.2f}     "
        f"largest difference {difference:.1e} of the maximum\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vectors", type=Path, nargs="?")
    parser.add_argument("--smallest", action="store_true", help="few vectors, in this process")
    given = parser.parse_args()
    data = vectors(2 * K if given.smallest else ITEMS, given.vectors)
    print(f"{len(data):,} x {data.shape[1]} vectors, k = {K}")
    compare("our_neighbours", "sklearn_neighbours", data, not given.smallest)


if __name__ == "__main__":
    main()
