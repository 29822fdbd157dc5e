"""Random and unequal draws, with the mean and with predictions, on models that were held out.

    python benchmarks/known_draws.py <folder> [--benchmarks …] [--rates 2.5 5 10 20] [--draws 100]

Held-out models are whole families (two splits) or the best 30% by score. Training models that are
near copies of a held-out one are left out: the correlation of their deviations from the items'
means is at least .9. At most 150 held-out models judge. `passed`, `worth` and `forward_coverage`
are the evidence of the training models alone, by which `unequal` draws so or at random. Each row
has the bias, mean width and coverage of the 95% interval; the effective sample sizes by width and
by squared error, relative to the mean of random draws; Kendall's tau-b with the true scores, and
its mean percentile among random draws with the mean. The scores of `pass_rate` and `share_wrong`
are biased; their rows are of interest for ranks.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.answers.model_descriptions import family_of
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.forward_evidence import FEWEST_ITEMS, judge_unequal
from benchwright.methods.dele.estimation.registry import ESTIMATORS
from benchwright.methods.dele.estimation.training import Training
from benchwright.methods.dele.evidence.panels import split_by_family, split_forward
from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.methods.dele.samplers.registry import SAMPLERS
from benchwright.params.sampling import SamplingParams
from benchwright.statistics.rank_agreement import kendall_tau_b_rows
from benchwright.statistics.unequal_draws import (
    UNIFORM_SHARE,
    inclusion_probabilities,
    response_spread,
    systematic_draw,
)
from real_data import real_data

Float = NDArray[np.float64]
FIRST = (
    *("arc_challenge_803", "arc_challenge", "gsm8k", "winogrande", "mmlu", "mmlu_23"),
    *("hellaswag", "truthfulqa"),
)
SHARE = 0.7

SECOND = {
    "medqa": "medqa_letters_23models",
    "lawbench": "lawbench_letters_51models",
    "math_hard": "math_hard_models",
    "ifeval": "ifeval_models",
    "zeroeval_gsm": "zeroeval_gsm",
    "zeroeval_crux": "zeroeval_crux",
    "zeroeval_math": "zeroeval_math_l5",
}
BENCHMARKS = (*FIRST, *SECOND)
COPIES, JUDGES = 0.9, 150
ROWS = ("random, mean", "random, aipw", "unequal, aipw")
RANKING = ("pass_rate", "share_wrong")  # samplers whose means rank but do not estimate scores
RANKED = 40  # draws of these
_REFERENCES = 1_000  # random draws with the mean, for errors and ranks


class Answers(NamedTuple):
    """Complete answers (m, n) of models with their names and families."""

    correct: NDArray[np.float32]
    models: list[str]
    families: list[str]


def read(folder: Path, name: str) -> Answers:
    if name == "mmlu_23":
        wide = pd.read_parquet(folder / "mmlu_correct_23models.parquet").set_index("item_id")
        correct = wide.astype("Float32").T.to_numpy(np.float32, na_value=np.nan)
        correct = correct[:, ~np.isnan(correct).any(axis=0)]
        return Answers(correct, list(wide.columns), list(wide.columns))
    wide = pd.read_parquet(folder / f"leaderboard_v1_{name.removesuffix('_803')}.parquet")
    wide = wide.drop_duplicates("model").set_index("model")
    correct = wide.to_numpy(np.float32, na_value=np.nan)
    if not name.endswith("_803"):
        gaps, counts = np.unique(np.isnan(correct), axis=0, return_counts=True)
        correct = correct[:, ~gaps[counts.argmax()]]
    whole = ~np.isnan(correct).any(axis=1)
    models = wide.index[whole]
    facts = pd.read_parquet(folder / "leaderboard_v1_models.parquet").drop_duplicates("name")
    facts = facts.set_index("name").reindex(models)
    sizes = facts["size"].round(1).astype(str)
    families = facts["arch"].astype(str) + "/" + sizes
    return Answers(correct[whole], list(models), list(families))


class Drawn(NamedTuple):
    """Shown scores (d, r) of r held-out models in d draws, and bounds of their intervals."""

    shown: Float
    low: Float
    high: Float


def read_any(folder: Path, name: str) -> Answers:
    """Return the answers to one benchmark of either folder."""
    if name in FIRST:
        return read(folder / "responses", name)
    wide = pd.read_parquet(folder / "responses_2" / f"{SECOND[name]}.parquet").set_index("item_id")
    if "letters" in SECOND[name]:
        items = pd.read_parquet(folder / "responses_2" / f"{name}_items.parquet")
        gold = items.set_index("item_id")["answer"].reindex(wide.index).to_numpy(object)
        right = wide.to_numpy(object) == gold[:, None]
    else:
        right = wide.dropna().to_numpy()
    models = [str(model) for model in wide.columns]
    bare = [model.split("|")[0] for model in models]
    return Answers(right.T.astype(np.float32), models, [family_of(one) or one for one in bare])


def splits(answers: Answers) -> Iterator[tuple[str, NDArray[np.intp], NDArray[np.intp]]]:
    """Yield the held-out kind, training models without near copies, and held-out models."""
    values = answers.correct - answers.correct.mean(axis=0)
    values /= np.maximum(np.sqrt((values**2).sum(axis=1, keepdims=True)), 1e-9)
    for number in (1, 2, 0):
        if number:
            how = f"families {number}"
            train, test = split_by_family(answers.families, number, SHARE)
        else:
            how = "best"
            train, test = split_forward(answers.models, answers.correct.mean(axis=1), SHARE)
        near = (values[train] @ values[test].T).max(axis=1) >= COPIES
        if len(test) > JUDGES:
            test = np.sort(np.random.default_rng(number).permutation(test)[:JUDGES])
        yield how, train[~near], test


def measure(
    prepared: Training, tested: Float, k: int, draws: int
) -> tuple[dict[str, Drawn], Float]:
    """Return the estimates of all rows, and the means (1000, r) over further random draws."""
    n = tested.shape[1]
    rng = np.random.default_rng(k)
    spread, share = response_spread(prepared.filled), UNIFORM_SHARE if k >= FEWEST_ITEMS else 1.0
    inclusion = inclusion_probabilities(spread, k, share)
    found: dict[str, list[Sequence[Float]]] = {name: [] for name in ROWS}
    for _ in range(draws):
        chosen = systematic_draw(inclusion, rng.permutation(n), rng.random())
        unequal = WeightedSubset.drawn(chosen, inclusion[chosen])
        random = WeightedSubset.equal(np.sort(rng.permutation(n)[:k]))
        for row in ROWS:
            kind, name = row.split(", ")
            found[row].append(
                _estimate(name, prepared, random if kind == "random" else unequal, tested)
            )
    pool = SamplingPool(tuple(map(str, range(n))), ("",) * n, ("",) * n, correct=prepared.filled)
    for name in RANKING:
        drawn = [SAMPLERS[name].make(SamplingParams())(pool, seed)(k) for seed in range(RANKED)]
        found[f"{name}, mean"] = [_estimate("mean", prepared, each, tested) for each in drawn]
    further = [tested[:, rng.permutation(n)[:k]].mean(axis=1) for _ in range(_REFERENCES)]
    stacked = {name: Drawn(*np.array(rows).transpose(1, 0, 2)) for name, rows in found.items()}
    return stacked, np.array(further)


def _estimate(
    name: str, prepared: Training, subset: WeightedSubset, tested: Float
) -> Sequence[Float]:
    seen = tested[:, subset.positions]
    found = ESTIMATORS[name].fit(prepared, subset, 0)(seen)
    return found.shown, found.low, found.high


def lines(found: dict[str, Drawn], means: Float, truth: Float) -> Iterator[dict[str, float | str]]:
    """Yield a row of figures for each draw and estimator."""
    squared = float(((means - truth) ** 2).mean())
    ranks = np.sort(kendall_tau_b_rows(truth, np.round(means, 9)))
    width = (found["random, mean"].high - found["random, mean"].low).mean()
    for name, (shown, low, high) in found.items():
        tau = kendall_tau_b_rows(truth, np.round(shown, 9))
        places = [np.searchsorted(ranks, tau, side) for side in ("left", "right")]
        yield {
            "row": name,
            "bias": float((shown - truth).mean()),
            "width": float((high - low).mean()),
            "coverage": float(((low - 1e-9 <= truth) & (truth <= high + 1e-9)).mean()),
            "ess_width": float((width / (high - low).mean()) ** 2),
            "ess_mse": squared / float(((shown - truth) ** 2).mean()),
            "tau_b": float(np.nanmean(tau)),
            "percentile": float(np.mean(places)) / len(ranks),
        }


def main() -> None:
    """Print a line for each benchmark, split, rate and row, and write them as CSV."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--benchmarks", nargs="+", default=BENCHMARKS, choices=BENCHMARKS)
    parser.add_argument("--rates", nargs="+", type=float, default=(2.5, 5.0, 10.0, 20.0))
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--out", type=Path, help="CSV of all rows")
    arguments = parser.parse_args()
    table = []
    for name in arguments.benchmarks:
        answers = read_any(real_data(arguments.folder), name)
        kin = np.unique(answers.families, return_inverse=True)[1]
        for how, train, test in splits(answers):
            tested = answers.correct[test].astype(np.float64)
            prepared = Training(answers.correct[train], families=kin[train])
            evidence = judge_unequal(Training(prepared.correct), 0)
            forward = {"passed": evidence.passed, "worth": evidence.worth}
            forward["forward_coverage"] = evidence.coverage
            for rate in arguments.rates:
                k = max(2, round(tested.shape[1] * rate / 100))
                start = time.process_time()
                found, means = measure(prepared, tested, k, arguments.draws)
                facts = {"benchmark": name, "held_out": how, "items": k, "training": len(train)}
                facts |= forward
                spent = time.process_time() - start
                print(f"\n{facts}, {len(test)} held out, {spent:.0f} s", flush=True)
                for line in lines(found, means, tested.mean(axis=1)):
                    table.append({**facts, "tested": len(test), "rate": rate, **line})
                    figures = (f"{key} {v:.4f}" for key, v in line.items() if key != "row")
                    print(f"  {line['row']:15} {'  '.join(figures)}", flush=True)
                if arguments.out:
                    pd.DataFrame(table).to_csv(arguments.out, index=False)


if __name__ == "__main__":
    main()
