"""Time, memory and recall of approximate neighbours.

    python benchmarks/bench_neighbours.py N vectors.npy

The vectors of the file are taken as they are where N is 0; else N are grown from them: drawn with
replacement, moved by a random step of length 0.1 to 0.5 and made unit length again.

    --k 100         neighbours
    --checked 2000  rows whose neighbours are found exactly, for the recall
    --exact         find all neighbours exactly too
    --to FILE       append the measures as one JSON line
"""

import argparse
import json
import resource
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchwright.statistics.nearest_neighbours import (
    approximate_neighbours,
    nearest_neighbours,
    neighbours_of,
)

Vectors = NDArray[np.float32]
_BLOCK = 20_000


def grown(base: Vectors, n: int) -> Vectors:
    """Vectors of unit length, n of them, near those of `base`."""
    draw = np.random.default_rng(0)
    out = np.empty((n, base.shape[1]), np.float32)
    for start in range(0, n, _BLOCK):
        rows = min(_BLOCK, n - start)
        length = draw.uniform(0.1, 0.5, (rows, 1)) / base.shape[1] ** 0.5
        moved = base[draw.integers(0, len(base), rows)]
        moved = moved + length * draw.standard_normal(moved.shape)
        out[start : start + rows] = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    return out


def peak_gb() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9, 3)


def recall(approximate: NDArray[np.int32], true: NDArray[np.int32]) -> float:
    shares = [
        np.isin(nearest, neighbours).mean()
        for nearest, neighbours in zip(true, approximate, strict=True)
    ]
    return round(float(np.mean(shares)), 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", type=int)
    parser.add_argument("vectors", type=Path)
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--checked", type=int, default=2000)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--to", type=Path)
    asked = parser.parse_args()
    vectors = np.load(asked.vectors).astype(np.float32)
    if asked.n:
        vectors = grown(vectors, asked.n)
    n = len(vectors)
    line = {"what": "neighbours", "rows": n, "k": asked.k, "start_gb": peak_gb()}
    draw = np.random.default_rng(1)
    rows = np.sort(draw.choice(n, min(asked.checked, n), replace=False))
    start = time.process_time()
    whole = approximate_neighbours(vectors, asked.k)
    line["cpu_s"] = round(time.process_time() - start, 1)
    line["peak_gb"] = peak_gb()
    near = whole.indices[rows]
    true = neighbours_of(vectors, rows, asked.k)
    line["recall"] = recall(near, true.indices)
    line["nearest_found"] = round(float(np.mean((near == true.indices[:, :1]).any(axis=1))), 4)
    line["median_nearest"] = round(float(np.median(true.distances[:, 0])), 4)
    if asked.exact:
        start = time.process_time()
        nearest_neighbours(vectors, asked.k)
        line["exact_cpu_s"] = round(time.process_time() - start, 1)
    print(json.dumps(line))
    if asked.to:
        with asked.to.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
