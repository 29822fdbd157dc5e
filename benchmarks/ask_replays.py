"""Replays of `benchwright ask` on recorded answers: stopping at a width, and other ways to draw.

    python benchmarks/ask_replays.py [FOLDER of the data] [--orders 1000] [--budgets 60 120]

The strongest 30% of the models are asked; the others train, without near copies of those. Stopping:
looks and levels of the command, beside peeking at ordinary intervals and α divided among the looks.
Draws at equal budgets: the command's; unequal probabilities from the training models; batches with
probabilities from a model's own earlier answers; an adaptive test with a random probe of a fifth.
"""

import argparse
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.seeding import stage_generator
from benchwright.methods.dele.estimation.aipw import predictor_of
from benchwright.methods.dele.estimation.item_predictions import (
    DesignEstimate,
    ItemPredictor,
    difference_estimate,
    variance,
)
from benchwright.methods.dele.estimation.training import PreparedTraining, Training
from benchwright.statistics.fixed_width import looks_at_widths
from benchwright.statistics.proportion import wilson_bounds
from benchwright.statistics.unequal_draws import (
    UNIFORM_SHARE,
    inclusion_probabilities,
    response_spread,
    systematic_draw,
)
from real_data import DATA, real_data

Float = NDArray[np.float64]
LEVEL = 0.95
WIDTHS = (0.2, 0.14, 0.1, 0.06)


class World(NamedTuple):
    """Training models, and the answers (r, n) of the models that are asked."""

    prepared: PreparedTraining
    asked: Float

    @property
    def truth(self) -> Float:
        return np.asarray(self.asked.mean(axis=1))


def arc(folder: Path) -> Float:
    table = pd.read_parquet(folder / "responses/leaderboard_v1_arc_challenge.parquet")
    values: Float = table.drop(columns="model").dropna().to_numpy(np.float64)
    return values


def mmlu(folder: Path) -> Float:
    table = pd.read_parquet(folder / "responses/mmlu_correct_23models.parquet")
    values: Float = table.drop(columns="item_id").to_numpy(np.float64).T
    complete: Float = values[~np.isnan(values).any(axis=1)]
    return complete


def letters(folder: Path, name: str, items: str, ending: str = "") -> Float:
    given = pd.read_parquet(folder / f"responses_2/{name}.parquet").set_index("item_id")
    gold = pd.read_parquet(folder / f"responses_2/{items}.parquet").set_index("item_id")["answer"]
    given = given[[model for model in given if str(model).endswith(ending)]]
    values: Float = given.eq(gold.reindex(given.index), axis=0).to_numpy(np.float64).T
    return values


def medqa(folder: Path) -> Float:
    return letters(folder, "medqa_letters_23models", "medqa_items")


def lawbench(folder: Path) -> Float:
    return letters(folder, "lawbench_letters_51models", "lawbench_items", "|zero_shot")


def gsm8k(folder: Path) -> Float:
    table = pd.read_parquet(folder / "responses_2/zeroeval_gsm.parquet")
    values: Float = table.drop(columns="item_id").to_numpy(np.float64).T
    return values


def made_up(_: Path) -> Float:
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 1, (30, 1)) - rng.normal(0, 1.2, (1, 120))
    return (rng.random((30, 120)) < 1 / (1 + np.exp(-2 * logits))).astype(np.float64)


READ: dict[str, Callable[[Path], Float]] = {
    "arc_challenge": arc,
    "mmlu": mmlu,
    "medqa": medqa,
    "lawbench": lawbench,
    "gsm8k": gsm8k,
}


def world(values: Float) -> World:
    score = values.mean(axis=1)
    strong = score >= np.quantile(score, 0.7)
    others, asked = values[~strong], values[strong]
    agree = (others @ asked.T + (1 - others) @ (1 - asked).T) / values.shape[1]
    return World(PreparedTraining(Training(others[agree.max(axis=1) < 0.97])), asked)


def estimates(made: World, order: NDArray[np.intp], size: int) -> tuple[Any, Any]:
    """Return functions from a level to bounds (r,), of `aipw` and of the plain mean."""
    n, answers = made.asked.shape[1], made.asked[:, order[:size]]
    if size == n:
        return (lambda _: (made.truth, made.truth),) * 2
    predictor = predictor_of(made.prepared, size, unequal=False, seed=0)
    found = difference_estimate(predictor, order[:size], np.full(size, size / n), answers)

    def mean(level: float) -> tuple[Float, Float]:
        from scipy.special import ndtri

        z = float(ndtri((1 + level) / 2))
        return wilson_bounds(answers.mean(axis=1), size * (n - 1) / (n - size), z)

    return lambda level: (found.score - found.reach(level), found.score + found.reach(level)), mean


def stopping(name: str, made: World, orders: int) -> pd.DataFrame:
    """Return items, width and coverage at stopping, by estimator, rule and width."""
    n, rows = made.asked.shape[1], []
    for width in WIDTHS:
        looks = looks_at_widths(width, n, LEVEL)
        split = 1 - (1 - LEVEL) / sum(size < n for size in looks.sizes)
        rules = {"peeking": LEVEL, "looks": looks.level, "divided": split}
        keys = list(product(("aipw", "mean"), rules))
        sums = {key: np.zeros((3, len(made.asked))) for key in keys}
        pilot = min(50, orders)
        at_level = np.zeros((2, len(looks.sizes), len(made.asked)))  # widths of fixed sizes
        rng = stage_generator(0, f"{name} {width}")
        for number in range(orders):
            order = rng.permutation(n)
            going = {key: np.ones(len(made.asked), dtype=bool) for key in sums}
            for look, size in enumerate(looks.sizes):
                if number >= pilot and not any(left.any() for left in going.values()):
                    break
                for which, (estimator, bounds) in enumerate(
                    zip(("aipw", "mean"), estimates(made, order, size), strict=True)
                ):
                    if number < pilot:
                        low, high = bounds(LEVEL)
                        at_level[which, look] += (high - low) / pilot
                    for rule, level in rules.items():
                        low, high = bounds(level)
                        left = going[estimator, rule]
                        stops = left & ((high - low <= width) | (size == n))
                        inside = (low <= made.truth + 1e-9) & (made.truth <= high + 1e-9)
                        found = np.stack([np.full(len(low), size), high - low, inside])
                        sums[estimator, rule][:, stops] += found[:, stops]
                        left &= ~stops
        for which, estimator in enumerate(("aipw", "mean")):
            sizes = np.array([*looks.sizes, n])[(at_level[which] <= width).argmax(axis=0)]
            for rule, level in rules.items():
                items, wide, covered = sums[estimator, rule] / orders
                rows.append(
                    {
                        "data": name,
                        "width": width,
                        "estimator": estimator,
                        "rule": rule,
                        "level": level,
                        "fixed": sizes.mean(),
                        "items": items.mean(),
                        "mean_width": wide.mean(),
                        "coverage": covered.mean(),
                        "least": covered.min(),
                    }
                )
    return pd.DataFrame(rows)


Way = Callable[[World, ItemPredictor, int, np.random.Generator], DesignEstimate]


def uniform(made: World, g: ItemPredictor, k: int, rng: np.random.Generator) -> DesignEstimate:
    n = made.asked.shape[1]
    places = rng.permutation(n)[:k]
    return difference_estimate(g, places, np.full(k, k / n), made.asked[:, places])


def unequal(made: World, g: ItemPredictor, k: int, rng: np.random.Generator) -> DesignEstimate:
    spread = response_spread(made.prepared.item_means, len(made.prepared.scores))
    inclusion = inclusion_probabilities(spread, k, UNIFORM_SHARE)
    places = systematic_draw(inclusion, rng.permutation(len(spread)), rng.random())
    g = predictor_of(made.prepared, k, unequal=True, seed=0)
    return difference_estimate(g, places, inclusion[places], made.asked[:, places])


def predicted(g: ItemPredictor, places: NDArray[np.intp], responses: Float) -> Float:
    """Return predictions (n,) for one model from its responses (k,), by the ridge of `g`."""
    if not len(places):
        return g.offset
    seen = g.features[:, places]
    kernel = seen.T @ seen + g.penalty * np.eye(len(places))
    weights = np.linalg.solve(kernel, responses - g.offset[places])
    return np.asarray(np.clip(g.offset + weights @ (seen.T @ g.features), 0, 1))


def batches(count: int) -> Way:
    """Return the way that draws batches by a model's own earlier answers."""

    def way(made: World, g: ItemPredictor, k: int, rng: np.random.Generator) -> DesignEstimate:
        n, size = made.asked.shape[1], k // count
        total, squared = np.zeros(len(made.asked)), np.zeros(len(made.asked))
        for r, answers in enumerate(made.asked):
            seen = np.empty(0, dtype=np.intp)
            for batch in range(count):
                expected = predicted(g, seen, answers[seen])
                rest = np.setdiff1d(np.arange(n), seen)
                spread = np.sqrt(np.clip(expected[rest] * (1 - expected[rest]), 0.01, 0.25))
                share = UNIFORM_SHARE if batch else 1.0
                inclusion = inclusion_probabilities(spread, size, share)
                drawn = systematic_draw(inclusion, rng.permutation(len(rest)), rng.random())
                places, chance = rest[drawn], inclusion[drawn]
                residual = answers[places] - expected[places]
                whole = answers[seen].sum() + expected[rest].sum() + (residual / chance).sum()
                total[r] += whole / count
                squared[r] += variance(residual[None], chance)[0] / count**2
                seen = np.concatenate([seen, places])
        return DesignEstimate(total / n, np.sqrt(squared) / n, k - count)

    return way


def adaptive(made: World, g: ItemPredictor, k: int, rng: np.random.Generator) -> DesignEstimate:
    """Most informative items by a two-parameter model, then a random probe of a fifth."""
    n = made.asked.shape[1]
    curves = made.prepared.curves()
    a, nodes = curves.slope, np.linspace(-4, 4, 81)
    p = np.clip(1 / (1 + np.exp(-(a * nodes[:, None] + curves.intercept))), 1e-6, 1 - 1e-6)
    information, right, wrong = a**2 * p * (1 - p), np.log(p), np.log(1 - p)
    probe = k // 5
    total, squared = np.zeros(len(made.asked)), np.zeros(len(made.asked))
    for r, answers in enumerate(made.asked):
        posterior, free = -0.5 * nodes**2, np.ones(n, dtype=bool)
        for _ in range(k - probe):
            gain = np.where(free, information[int(posterior.argmax())], -1)
            best = np.argpartition(gain, -5)[-5:]  # one of the best five
            item = int(rng.choice(best[free[best]]))
            free[item] = False
            posterior = posterior + np.where(answers[item], right[:, item], wrong[:, item])
        seen, rest = np.flatnonzero(~free), np.flatnonzero(free)
        places = rng.permutation(rest)[:probe]
        both = np.concatenate([seen, places])
        left_out = g.left_out(both, answers[None, both])[0][0, len(seen) :]
        expected = predicted(g, both, answers[both])
        residual, chance = answers[places] - left_out, np.full(probe, probe / len(rest))
        unasked = np.setdiff1d(rest, places)
        whole = answers[seen].sum() + expected[unasked].sum() + np.sum(left_out)
        total[r] = whole + (residual / chance).sum()
        squared[r] = variance(residual[None], chance)[0]
    return DesignEstimate(total / n, np.sqrt(squared) / n, probe - 1)


WAYS: dict[str, tuple[Way, int]] = {
    "random": (uniform, 10),
    "unequal": (unequal, 10),
    "batches of own, 2": (batches(2), 1),
    "batches of own, 3": (batches(3), 1),
    "adaptive and probe": (adaptive, 1),
}


def ways(name: str, made: World, budgets: list[int], draws: int) -> pd.DataFrame:
    """Return error, width, coverage and effective sample sizes, by way and budget."""
    rows = []
    for k in budgets:
        g = predictor_of(made.prepared, k, unequal=False, seed=0)
        for way, (ask, times) in WAYS.items():
            rng = stage_generator(0, f"{name} {k} {way}")
            found = [ask(made, g, k, rng) for _ in range(draws * times)]
            error = np.stack([each.score for each in found]) - made.truth
            reach = np.stack([each.reach(LEVEL) for each in found])
            rows.append(
                {
                    "data": name,
                    "items": k,
                    "way": way,
                    "bias": error.mean(),
                    "rmse": np.sqrt((error**2).mean()),
                    "mean_width": 2 * reach.mean(),
                    "coverage": (np.abs(error) <= reach + 1e-9).mean(),
                }
            )
    table = pd.DataFrame(rows)
    first = table[table["way"] == "random"].set_index("items")
    table["ess_mse"] = (first["rmse"].reindex(table["items"]).to_numpy() / table["rmse"]) ** 2
    of_width = first["mean_width"].reindex(table["items"]).to_numpy() / table["mean_width"]
    table["ess_width"] = of_width**2
    return table


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    parser.add_argument("--orders", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--budgets", type=int, nargs="*", default=[60, 120])
    parser.add_argument("--data", nargs="*", default=list(READ))
    parser.add_argument("--smallest", action="store_true", help="made-up answers")
    chosen = parser.parse_args(given)
    folder = chosen.folder if chosen.smallest else real_data(chosen.folder)
    for name in ["made_up"] if chosen.smallest else chosen.data:
        made = world(made_up(folder) if chosen.smallest else READ[name](folder))
        print(f"\n{name}: {made.asked.shape[1]:,} items, {len(made.asked)} models asked,", end=" ")
        print(f"{len(made.prepared.scores)} train")
        if chosen.orders:
            print(stopping(name, made, chosen.orders).round(4).to_string(), flush=True)
        if chosen.draws:
            print(ways(name, made, chosen.budgets, chosen.draws).round(4).to_string(), flush=True)


if __name__ == "__main__":
    main()
