"""Time, memory and recovery of 2PL fits: `python benchmarks/bench_irt.py [--others PYTHON]`.

Ours, girth, mirt, irtorch and py-irt fit the same simulated answers, each in a process of its own.
The last three live in another environment, whose interpreter is named. What does not finish within
`--limit` seconds is said to have not finished. Fits and abilities only are timed, not imports or
reading; memory is the peak beyond that of the loaded libraries and the input (Linux only). CPU
seconds count all threads; they say more than the clock where other programs run.

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
name, folder, epochs = sys.argv[1:]
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

MIRT = """
import mirt
whole = correct.astype(int)
mirt.fit_mirt(whole[:, :20], "2PL", compute_standard_errors=False)
before, start = peak(), clock()
fit = mirt.fit_mirt(whole, "2PL", compute_standard_errors=False)
ability = np.ravel(mirt.fscores(fit, whole).theta)
spent = clock() - start
a, b = (np.ravel(fit.model.parameters[each]) for each in ("discrimination", "difficulty"))
note = f"{fit.n_iterations} steps, 21 nodes, converged: {fit.converged}"
"""

IRTORCH = """
import torch
from irtorch.estimation_algorithms import MML
from irtorch.models import TwoParameterLogistic
answers = torch.tensor(correct)
before, start = peak(), clock()
model = TwoParameterLogistic(items=answers.shape[1])
model.fit(train_data=answers, algorithm=MML())
a, intercept = model.weight_param.detach().numpy().ravel(), model.bias_param.detach().numpy()
a, b = np.abs(a), -intercept / a
ability = model.latent_scores(answers, theta_estimation="EAP", rescale=False).numpy().ravel()
spent = clock() - start
note = "marginal likelihood, its defaults"
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
before, start = peak(), clock()
trainer.train(device="cpu")
spent = clock() - start
fit = trainer.last_params
order = [int(fit["item_ids"][k][1:]) for k in range(len(fit["diff"]))]
a, b = np.empty(len(order)), np.empty(len(order))
a[order], b[order] = np.ravel(fit["disc"]), np.ravel(fit["diff"])
ability = np.empty(len(correct))
people = [int(fit["subject_ids"][k][1:]) for k in range(len(correct))]
ability[people] = np.ravel(fit["ability"])
note = f"{epochs} epochs, hierarchical priors"
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


def measure(
    name: str,
    program: str,
    python: str,
    folder: Path,
    true: Simulated,
    arguments: argparse.Namespace,
) -> Cost | None:
    """Run one fit in a process of its own and print a line about it; what it took, if it ended."""
    command = [python, "-c", CHILD + program + REPORT, name, str(folder), str(arguments.epochs)]
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=arguments.limit, check=False
        )
    except subprocess.TimeoutExpired:
        print(f"{name:8} did not finish in {arguments.limit} s", flush=True)
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
    parser.add_argument(
        "--others", metavar="PYTHON", help="interpreter that has mirt, irtorch and py-irt"
    )
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for each fit")
    parser.add_argument("--epochs", type=int, default=2000, help="of py-irt; 2,000 is its default")
    parser.add_argument("--sizes", type=int, default=len(SIZES), help="how many, small ones first")
    parser.add_argument("--smallest", action="store_true", help="only see that it runs")
    arguments = parser.parse_args()
    fits = [("ours", OURS, sys.executable), ("girth", GIRTH, sys.executable)]
    if arguments.others:
        others = (("mirt", MIRT), ("irtorch", IRTORCH), ("py-irt", PY_IRT))
        fits += [(name, program, arguments.others) for name, program in others]
    for models, items in [(60, 25)] if arguments.smallest else SIZES[: arguments.sizes]:
        print(f"{models:,} models x {items:,} items")
        true = simulate(models, items)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            np.save(folder / "correct.npy", true.correct)
            costs = {
                fit: measure(fit, program, python, folder, true, arguments)
                for fit, program, python in fits
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
