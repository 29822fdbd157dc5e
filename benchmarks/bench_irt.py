"""Time, memory and recovery of 2PL fits: `python benchmarks/bench_irt.py`.

Ours and girth fit the same simulated answers, each in a process of its own. What does not finish
within `--limit` seconds is said to have not finished. Fits and abilities only are timed, not
imports or reading; memory is the peak beyond that of the loaded libraries and the input (Linux
only). CPU seconds count all threads; they say more than the clock where other programs run.

The true answers come from 2PL curves with standard normal abilities. Recovery: correlations with
the true log a and b, and the root mean square error of the abilities, in standard deviations.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SIZES = ((500, 100), (2_700, 550), (20, 14_042), (395, 14_042))
LIMIT = 120

CHILD = """
import json, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
name, folder = sys.argv[1:]
correct = np.load(folder + "/correct.npy")
def clock():
    return np.array([time.perf_counter(), time.process_time()])
def peak():  # getrusage would count the parent's memory too
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
"""

OURS = """
from benchwright.statistics.item_response import fit_2pl
fit_2pl(correct[:, :20])
before, start = peak(), clock()
fit = fit_2pl(correct)
spent = clock() - start
a, b, ability = fit.discrimination, fit.difficulty, fit.ability
note = f"{fit.iterations} steps, {fit.nodes} nodes"
"""

GIRTH = """
import girth
girth.twopl_mml(correct[:, :4].T.astype(int))
before, start = peak(), clock()
fit = girth.twopl_mml(correct.T.astype(int))
a, b = fit["Discrimination"], fit["Difficulty"]
ability = girth.ability_eap(correct.T.astype(int), b, a)
spent = clock() - start
note = "its defaults: at most 25 steps, 41 nodes"
"""

REPORT = """
np.savez(folder + "/" + name, a=a, b=b, ability=ability)
cost = {"seconds": spent[0], "cpu": spent[1], "mebibytes": peak() - before, "note": note}
print("RESULT" + json.dumps(cost))
"""


class Cost(NamedTuple):
    """Seconds by the clock and of all threads, and the error of abilities."""

    seconds: float
    cpu: float
    error: float


class Simulated(NamedTuple):
    """Answers (m, n) of standard normal models (m,), and their items' parameters (n,)."""

    correct: NDArray[np.float32]
    ability: NDArray[np.float64]
    discrimination: NDArray[np.float64]
    difficulty: NDArray[np.float64]


def simulate(models: int, items: int) -> Simulated:
    rng = np.random.default_rng(0)
    ability = rng.normal(size=models)
    a, b = np.exp(rng.normal(0, 0.4, items)), rng.normal(-0.5, 1.2, items)
    p = 1 / (1 + np.exp(-a * (ability[:, None] - b)))
    return Simulated((rng.random(p.shape) < p).astype(np.float32), ability, a, b)


def measure(name: str, program: str, folder: Path, true: Simulated, limit: float) -> Cost | None:
    """Run one fit in a process of its own and print a line about it; what it took, if it ended."""
    command = [sys.executable, "-c", CHILD + program + REPORT, name, str(folder)]
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        print(f"{name:8} did not finish in {limit} s", flush=True)
        return None
    result = done.stdout.rpartition("RESULT")[2]  # after progress that ends no line
    if "RESULT" not in done.stdout:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"{name:8} failed: {last}", flush=True)
        return None
    cost = json.loads(result)
    fit = np.load(folder / f"{name}.npz")
    recovered = [
        np.corrcoef(*pair)[0, 1]
        for pair in ((np.log(true.discrimination), np.log(fit["a"])), (true.difficulty, fit["b"]))
    ]
    error = float(np.sqrt(np.mean((true.ability - fit["ability"]) ** 2)))
    print(
        f"{name:8} {cost['seconds']:8.2f} s {cost['cpu']:8.2f} s CPU {cost['mebibytes']:7.0f} MiB  "
        f"log a {recovered[0]:.3f}, b {recovered[1]:.3f}, abilities off by {error:.3f}  "
        f"({cost['note']})",
        flush=True,
    )
    return Cost(cost["seconds"], cost["cpu"], error)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for each fit")
    parser.add_argument("--sizes", type=int, default=len(SIZES), help="how many, small ones first")
    parser.add_argument("--smallest", action="store_true", help="only see that it runs")
    arguments = parser.parse_args()
    for models, items in [(60, 25)] if arguments.smallest else SIZES[: arguments.sizes]:
        print(f"{models:,} models x {items:,} items")
        true = simulate(models, items)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            np.save(folder / "correct.npy", true.correct)
            costs = {
                fit: measure(fit, program, folder, true, arguments.limit)
                for fit, program in (("ours", OURS), ("girth", GIRTH))
            }
        ours = costs.pop("ours")
        for other, cost in costs.items():
            if ours and cost:
                print(
                    f"{other:8} {cost.seconds / ours.seconds:8.1f} x our time, "
                    f"{cost.cpu / ours.cpu:.1f} x our CPU time, "
                    f"{cost.error / ours.error:.2f} x our error of abilities"
                )
        print()


if __name__ == "__main__":
    main()
