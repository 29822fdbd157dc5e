"""Time, memory and recovery of 2PL fits: `python benchmarks/bench_irt.py [--py-irt PYTHON]`.

Ours, girth and py-irt fit the same simulated answers, each in a process of its own. py-irt lives in
another environment, whose interpreter is named. What does not finish within `--limit` seconds is
said to have not finished. Fits only are timed, not imports or reading; memory is the peak beyond
that of the loaded libraries and the input (Linux only).
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

SIZES = ((500, 100), (395, 14_042))
LIMIT = 120

CHILD = """
import json, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
name, folder, epochs = sys.argv[1:]
correct = np.load(folder + "/correct.npy")
def peak():  # getrusage would count the parent's memory too
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
"""

OURS = """
from benchwright.statistics.item_response import fit_2pl
fit_2pl(correct[:, :20])
before, start = peak(), time.perf_counter()
fit = fit_2pl(correct)
seconds = time.perf_counter() - start
a, b = fit.discrimination, fit.difficulty
note = f"{fit.iterations} steps, {fit.nodes} nodes"
"""

GIRTH = """
import girth
girth.twopl_mml(correct[:, :4].T.astype(int))
before, start = peak(), time.perf_counter()
fit = girth.twopl_mml(correct.T.astype(int))
seconds = time.perf_counter() - start
a, b = fit["Discrimination"], fit["Difficulty"]
note = "its defaults: at most 25 steps, 41 nodes"
"""

PY_IRT = """
from pathlib import Path
from py_irt.config import IrtConfig
from py_irt.training import IrtModelTrainer
rows = Path(folder) / "answers.jsonl"
with rows.open("w") as file:
    for i, row in enumerate(correct.astype(int).tolist()):
        answers = {f"q{j}": value for j, value in enumerate(row)}
        file.write(json.dumps({"subject_id": f"m{i}", "responses": answers}) + "\\n")
config = IrtConfig(model_type="2pl", priors="hierarchical", epochs=int(epochs), seed=0)
trainer = IrtModelTrainer(data_path=rows, config=config, verbose=False)
before, start = peak(), time.perf_counter()
trainer.train(device="cpu")
seconds = time.perf_counter() - start
fit = trainer.last_params
order = [int(fit["item_ids"][k][1:]) for k in range(len(fit["diff"]))]
a, b = np.empty(len(order)), np.empty(len(order))
a[order], b[order] = np.ravel(fit["disc"]), np.ravel(fit["diff"])
note = f"{epochs} epochs, hierarchical priors"
"""

REPORT = """
np.savez(folder + "/" + name, a=a, b=b)
print("RESULT" + json.dumps({"seconds": seconds, "mebibytes": peak() - before, "note": note}))
"""


class Simulated(NamedTuple):
    """Answers (m, n) of standard normal models, and their items' parameters (n,)."""

    correct: NDArray[np.float32]
    discrimination: NDArray[np.float64]
    difficulty: NDArray[np.float64]


def simulate(models: int, items: int) -> Simulated:
    rng = np.random.default_rng(0)
    ability = rng.normal(size=models)
    a, b = np.exp(rng.normal(0, 0.4, items)), rng.normal(-0.5, 1.2, items)
    p = 1 / (1 + np.exp(-a * (ability[:, None] - b)))
    return Simulated((rng.random(p.shape) < p).astype(np.float32), a, b)


def measure(
    name: str,
    program: str,
    python: str,
    folder: Path,
    true: Simulated,
    arguments: argparse.Namespace,
) -> float | None:
    """Run one fit in a process of its own and print a line about it; its seconds, if it ended."""
    command = [python, "-c", CHILD + program + REPORT, name, str(folder), str(arguments.epochs)]
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=arguments.limit, check=False
        )
    except subprocess.TimeoutExpired:
        print(f"{name:8} did not finish in {arguments.limit} s", flush=True)
        return None
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    if not lines:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"{name:8} failed: {last}", flush=True)
        return None
    cost = json.loads(lines[0].removeprefix("RESULT"))
    fit = np.load(folder / f"{name}.npz")
    recovered = [
        np.corrcoef(*pair)[0, 1]
        for pair in ((np.log(true.discrimination), np.log(fit["a"])), (true.difficulty, fit["b"]))
    ]
    print(
        f"{name:8} {cost['seconds']:8.2f} s {cost['mebibytes']:7.0f} MiB   recovered: "
        f"log a {recovered[0]:.3f}, b {recovered[1]:.3f}   ({cost['note']})",
        flush=True,
    )
    return float(cost["seconds"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--py-irt", metavar="PYTHON", help="interpreter that has py-irt")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for each fit")
    parser.add_argument("--epochs", type=int, default=2000, help="of py-irt; 2,000 is its default")
    arguments = parser.parse_args()
    fits = [("ours", OURS, sys.executable), ("girth", GIRTH, sys.executable)]
    if arguments.py_irt:
        fits.append(("py-irt", PY_IRT, arguments.py_irt))
    for models, items in SIZES:
        print(f"{models:,} models x {items:,} items")
        true = simulate(models, items)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            np.save(folder / "correct.npy", true.correct)
            seconds = {
                fit: measure(fit, program, python, folder, true, arguments)
                for fit, program, python in fits
            }
        for other, spent in seconds.items():
            if other != "ours" and spent and seconds["ours"]:
                print(f"ratio    {spent / seconds['ours']:8.1f} x our time for {other}")
        print()


if __name__ == "__main__":
    main()
