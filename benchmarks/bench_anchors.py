"""Anchor points and p-IRT beside the way tinyBenchmarks computes them.

    python benchmarks/bench_anchors.py <folder with responses/> [--benchmarks …] [--limit 120]

tinyBenchmarks is not on a package index. Its steps are few: scikit-learn's k-means on the items'
answers, the item nearest to each centre, the share of the cluster as its weight; and SciPy's BFGS
for the ability of each new model. They run here on the same answers and, for p-IRT, with the same
item parameters. Each way to choose anchors runs in a process of its own; memory is the peak beyond
that of the loaded libraries and the answers (Linux only). CPU seconds count all threads.

100 anchors, a quarter where there are fewer than 400 items; 70% of the models choose, whole
families, and the others judge. Error: of the weighted mean of the anchors, in shares.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchwright.methods.dele.evidence.panels import split_by_family
from benchwright.statistics.preservation import preservation
from estimation_errors import BENCHMARKS, read
from real_data import real_data

SHARE = 0.7

CHILD = """
import json, sys, time
import numpy as np
correct = np.load(sys.argv[1] + "/correct.npy")
sizes = json.loads(sys.argv[2])
m, n = correct.shape
def clock():
    return np.array([time.perf_counter(), time.process_time()])
def peak():  # getrusage would count the parent's memory too
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
"""

OURS = """
from benchwright.params.sampling import AnchorParams
from benchwright.methods.dele.samplers.anchor_points import anchor_points_sampler
from benchwright.methods.dele.samplers.pool import SamplingPool
def chosen(correct, sizes):
    count = correct.shape[1]
    ids = tuple(f"{place:06d}" for place in range(count))
    pool = SamplingPool(ids, ("",) * count, ("",) * count, correct=correct)
    draw = anchor_points_sampler(AnchorParams())(pool, 0)
    return [draw(size) for size in sizes]
"""

K_MEANS = """
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances
def chosen(correct, sizes):
    points, found = correct.T, []
    for size in sizes:
        model = KMeans(n_clusters=size, n_init="auto", random_state=0).fit(points)
        near = pairwise_distances(model.cluster_centers_, points).argmin(axis=1)
        found.append((near, np.bincount(model.labels_, minlength=size) / len(points)))
    return found
"""

SCIPY_WARD = """
from scipy.cluster.hierarchy import fcluster, linkage
def chosen(correct, sizes):
    points, found = correct.T.astype(np.float64), []
    tree = linkage(points, method="ward")
    for size in sizes:
        labels = fcluster(tree, size, "maxclust")
        near, weights = [], []
        for label in np.unique(labels):
            places = np.flatnonzero(labels == label)
            gaps = ((points[places] - points[places].mean(axis=0)) ** 2).sum(axis=1)
            near.append(places[gaps.argmin()])
            weights.append(len(places) / len(points))
        found.append((np.array(near), np.array(weights)))
    return found
"""

REPORT = """
chosen(correct[:, :200], [5])
before, start = peak(), clock()
found = chosen(correct, sizes)
spent = clock() - start
rows = np.zeros((len(sizes), n))
for row, (places, weights, *_) in zip(rows, found):
    np.add.at(row, places, weights)
np.save(sys.argv[1] + "/weights.npy", rows)
print("RESULT" + json.dumps([*spent, peak() - before]))
"""

WAYS = {"ours": OURS, "k-means": K_MEANS, "SciPy Ward": SCIPY_WARD}


def compare_anchors(
    train: NDArray[np.float32],
    judge: NDArray[np.float32],
    sizes: list[int],
    limit: float,
    ways: Sequence[str],
) -> NDArray[np.float64] | None:
    """Print a line for each way to choose; the weights (n,) of our largest set of anchors."""
    ours, first = None, 0.0
    with tempfile.TemporaryDirectory() as name:
        np.save(Path(name) / "correct.npy", train)
        for way in ways:
            command = [sys.executable, "-c", CHILD + WAYS[way] + REPORT, name, json.dumps(sizes)]
            try:
                done = subprocess.run(  # noqa: S603
                    command, capture_output=True, text=True, timeout=limit, check=False
                )
            except subprocess.TimeoutExpired:
                print(f"  {way:10} did not finish in {limit:g} s", flush=True)
                continue
            if "RESULT" not in done.stdout:
                print(f"  {way:10} failed: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
                continue
            seconds, cpu, memory = json.loads(done.stdout.rpartition("RESULT")[2])
            weights = np.load(Path(name) / "weights.npy")
            kept = preservation(judge, weights[-1:])
            first = first or cpu
            ours = weights[-1] if way == "ours" else ours
            print(
                f"  {way:10} {seconds:7.2f} s {cpu:7.2f} s CPU ({cpu / first:.1f} x ours) "
                f"{memory:6.0f} MiB  error {kept.mean_absolute_error[0]:.4f}  "
                f"tau-b {kept.tau_b[0]:.3f}",
                flush=True,
            )
    return ours


def compare_abilities(
    train: NDArray[np.float32], judge: NDArray[np.float32], places: NDArray[np.intp], most: int
) -> None:
    """p-IRT of the judges from the items at `places`: our posterior mean beside BFGS."""
    from benchwright.methods.dele.estimation.training import ItemCurves
    from benchwright.statistics.item_response import fit_2pl

    start = time.process_time()
    curves = ItemCurves.of(fit_2pl(train))
    print(f"  two-parameter fit of {len(train)} models: {time.process_time() - start:.1f} s CPU")
    judge = judge[:most]
    answers = judge[:, places].astype(np.float64)
    truth, share = judge.mean(axis=1, dtype=np.float64), len(places) / judge.shape[1]
    rest = np.ones(judge.shape[1], dtype=bool)
    rest[places] = False
    start = time.process_time()
    posterior = curves.expected(places, answers).mean
    ours = time.process_time() - start
    start = time.process_time()
    theta = np.array([_ability_by_bfgs(curves, places, row) for row in answers])
    logits = theta[:, None] * curves.slope[rest] + curves.intercept[rest]
    likeliest = (1 / (1 + np.exp(-np.clip(logits, -30, 30)))).mean(axis=1)
    theirs = time.process_time() - start
    for name, mean, spent in (("ours", posterior, ours), ("BFGS", likeliest, theirs)):
        score = share * answers.mean(axis=1) + (1 - share) * mean
        each = 1000 * spent / len(judge)
        print(
            f"  p-IRT, {name}: {each:7.3f} s CPU for 1,000 models ({spent / ours:.0f} x ours), "
            f"error {np.abs(score - truth).mean():.4f}"
        )


def _ability_by_bfgs(curves: object, places: NDArray[np.intp], row: NDArray[np.float64]) -> float:
    from scipy.optimize import minimize

    slope, intercept = curves.slope[places], curves.intercept[places]  # type: ignore[attr-defined]

    def loss(theta: NDArray[np.float64]) -> float:
        p = 1 / (1 + np.exp(-np.clip(slope * theta + intercept, -30, 30)))
        return -float(np.sum(row * np.log(p + 1e-10) + (1 - row) * np.log(1 - p + 1e-10)))

    return float(minimize(loss, np.zeros(1), method="BFGS").x[0])


def main() -> None:
    """Print the lines of each benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--benchmarks", nargs="+", default=BENCHMARKS, choices=BENCHMARKS)
    parser.add_argument("--limit", type=float, default=120, help="seconds for each way")
    parser.add_argument("--judges", type=int, default=500, help="models of p-IRT, at most")
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    given = parser.parse_args()
    for name in given.benchmarks:
        answers = read(real_data(given.folder) / "responses", name)
        n = answers.correct.shape[1]
        largest = min(100, n // 4)
        sizes = sorted({max(1, largest * tenth // 10) for tenth in range(1, 11)})
        train, judge = split_by_family(answers.models, answers.families, SHARE, 0)
        correct = answers.correct
        print(f"\n{name}: ten sizes up to {largest} of {n} items, {len(train)} models choose")
        weights = compare_anchors(correct[train], correct[judge], sizes, given.limit, given.ways)
        if weights is not None:
            compare_abilities(correct[train], correct[judge], np.flatnonzero(weights), given.judges)


if __name__ == "__main__":
    main()
