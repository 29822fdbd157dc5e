"""False alarms, stops and decisions of `benchwright gate` on pairs of real models.

    python benchmarks/gate_replays.py [FOLDER with responses_2/] [--replays 10000] [--orders 1000]

Pairs: LawBench, each of 51 models with and without one demonstration (1,000 items); MIRAGE, the six
pairs of four systems on each of five data sets. Replays of a pair whose labels are permuted (margin
0), or whose worse items are as many as the margin allows (margin .02), count the decisions that are
false although one looks after every item. Orders of the real pairs count the items until a
decision, beside the number that a power calculation with the true figures gives.
"""

import argparse
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from benchwright.statistics.anytime import (
    Evidence,
    betting_evidence,
    coin_evidence,
    evidence,
    first_decision,
)
from benchwright.statistics.paired_tests import paired_difference, sign_flip_p
from benchwright.verdicts.gate import item_order
from real_data import DATA, real_data

ALPHA, MARGIN = 0.05, 0.02
LEVEL = np.log(1 / ALPHA)
BLOCK = 250
FIRST_LOOK = 30  # discordant items (margin 0) or items, for tests by z
GAPS = (0, 0.01, 0.02, 0.05, 0.1, 1)
Differences = NDArray[np.float64]


def lawbench(folder: Path) -> dict[str, "pd.Series[float]"]:
    letters = pd.read_parquet(folder / "lawbench_letters_51models.parquet").set_index("item_id")
    items = pd.read_parquet(folder / "lawbench_items.parquet").set_index("item_id")
    right = letters.eq(items["answer"].reindex(letters.index), axis=0).astype(float)
    names = sorted(name.removesuffix("|zero_shot") for name in right if "|zero" in name)
    return {name: right[f"{name}|one_shot"] - right[f"{name}|zero_shot"] for name in names}


def mirage(folder: Path) -> dict[str, "pd.Series[float]"]:
    table = pd.read_parquet(folder / "mirage_letters_4systems.parquet").set_index("item_id")
    systems = [name for name in table if "_" in name and name.startswith("gpt")]
    right = table[systems].eq(table["answer"], axis=0).astype(float)
    return {
        f"{data}: {a} → {b}": right.loc[rows, b] - right.loc[rows, a]
        for data, rows in table.groupby("dataset").groups.items()
        for a, b in combinations(systems, 2)
    }


def made_up() -> dict[str, "pd.Series[float]"]:
    rng = np.random.default_rng(0)
    ids = [f"q/{n}" for n in range(120)]
    return {
        name: pd.Series(rng.choice([-1.0, 0.0, 1.0], 120, p=shares), index=ids)
        for name, shares in (("better", [0.1, 0.6, 0.3]), ("same", [0.1, 0.8, 0.1]))
    }


def blocks(
    replays: int, draw: Callable[[int], Differences], judge: Callable[[Differences], Any]
) -> "NDArray[np.float64]":
    """Return the mean judgements over replays, drawn in blocks."""
    parts = [min(BLOCK, replays - start) for start in range(0, replays, BLOCK)]
    return np.average([judge(draw(part)) for part in parts], axis=0, weights=parts)


def orders(d: Differences, rng: np.random.Generator) -> Callable[[int], Differences]:
    return lambda count: rng.permuted(np.tile(d, (count, 1)), axis=1)


def crosses(process: NDArray[np.float64], level: float) -> float:
    return float((process >= level).any(axis=1).mean())


def coin_alarms(d: Differences) -> tuple[float, float, float]:
    """Return alarms of the e-process, of z at every item, and of z at the end."""
    counted = np.arange(1, d.shape[1] + 1)
    z = np.abs(np.cumsum(d, axis=1)) / np.sqrt(counted)
    by_e = np.maximum(*coin_evidence(d))
    looks = z[:, FIRST_LOOK - 1 :] if d.shape[1] >= FIRST_LOOK else z[:, -1:]
    return crosses(by_e, LEVEL), crosses(looks, 1.96), float((z[:, -1] >= 1.96).mean())


def margin_alarms(d: Differences, side: int) -> tuple[float, float]:
    """Return false decisions by betting, and by z at every item, on one side of the margin."""
    n = d.shape[1]
    counted = np.arange(1, n + 1)
    mean = np.cumsum(d, axis=1) / counted
    variance = np.cumsum(d * d, axis=1) / counted - mean**2
    error = np.sqrt(np.maximum(variance, 1e-12) / counted)
    z = (-1 if side else 1) * (mean + MARGIN) / error
    process = betting_evidence(d, MARGIN, n)[side]
    return crosses(process, LEVEL), crosses(z[:, FIRST_LOOK:], 1.645)


def stops(found: Evidence) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the items until a decision (all without one), and it: 1 not worse, −1 worse, 0."""
    n = found.worse.shape[1]
    first = [np.where((p >= LEVEL).any(axis=1), (p >= LEVEL).argmax(axis=1), n) for p in found]
    at = np.minimum(*first)
    return np.minimum(at + 1, n), np.where(at == n, 0, np.where(first[0] < first[1], 1, -1))


def false_alarms(pairs: dict[str, Differences], replays: int, each: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows: list[dict[str, Any]] = []
    for name, d in pairs.items():
        n, discordant = len(d), int(np.count_nonzero(d))
        row: dict[str, Any] = {"pair": name}
        if discordant:
            flips = blocks(
                replays, lambda c, k=discordant: rng.choice([-1.0, 1.0], (c, k)), coin_alarms
            )
            row |= dict(zip(("e, margin 0", "z looks", "z once"), flips, strict=True))
        for side, rounding in enumerate((np.ceil, np.floor)):
            worse = int(rounding((discordant + MARGIN * n - 1e-9 * (1 - 2 * side)) / 2))
            if 0 <= worse <= discordant:
                null = np.repeat([1.0, -1.0, 0.0], [discordant - worse, worse, n - discordant])
                found = blocks(each, orders(null, rng), lambda x, side=side: margin_alarms(x, side))
                what = ("not worse", "worse")[side]
                row |= {f"{what}, betting": found[0], f"{what}, z looks": found[1]}
        rows.append(row)
    return pd.DataFrame(rows)


def replayed(pairs: dict[str, Differences], each: int) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    rows = []
    for name, d in pairs.items():
        gap, share, n = float(d.mean()), float(np.mean(d != 0)), len(d)
        row = {"pair": name, "gap": gap, "discordant": share, "items": n}
        for margin in (0.0, MARGIN):
            truth = np.sign(gap + margin)

            def judge(
                x: Differences, margin: float = margin, truth: float = truth, n: int = n
            ) -> tuple[float, ...]:
                at, way = stops(evidence(x, margin, n))
                return float(at.mean()), float((way == truth).mean()), float((way == -truth).mean())

            stop, right, wrong = blocks(each, orders(d, rng), judge)
            distance = gap + margin
            z = ndtri(1 - ALPHA / (1 if margin else 2)) + ndtri(0.8)  # of a fixed sample
            needed = np.inf
            if distance:
                needed = z**2 * max(share - distance**2, 0.0) / distance**2
            if margin and np.isfinite(needed):  # without replacement
                needed = needed / (1 + needed / n)
            row |= {
                f"stop {margin:g}": stop,
                f"right {margin:g}": right,
                f"wrong {margin:g}": wrong if truth else np.nan,
                f"fixed {margin:g}": min(needed, n),
                f"reachable {margin:g}": needed <= n,
            }
        rows.append(row)
    return pd.DataFrame(rows)


def decisions(pairs: "dict[str, pd.Series[float]]") -> Iterator[dict[str, Any]]:
    for name, row in pairs.items():
        d = row.to_numpy()
        found = paired_difference(d, np.arange(len(d)), 1 - 2 * ALPHA)
        by_bounds = (
            "not worse" if found.low > -MARGIN else "worse" if found.high < -MARGIN else "undecided"
        )
        ordered = row[item_order(list(row.index), 0)].to_numpy()
        stopped = first_decision(betting_evidence(ordered, MARGIN, len(d)), ALPHA)
        coin = first_decision(coin_evidence(ordered), ALPHA)
        yield {
            "pair": name,
            "items": len(d),
            "B − A": f"{100 * d.mean():+.1f}",
            "bounds": f"[{100 * found.low:+.1f}, {100 * found.high:+.1f}]",
            "truth": "not worse" if d.mean() > -MARGIN else "worse",
            "all answers": by_bounds,
            "anytime": f"{stopped.decision} after {stopped.items:,}",
            "anytime, margin 0": f"{coin.decision} after {coin.items:,}",
        }


def by_gap(table: pd.DataFrame, margin: float) -> pd.DataFrame:
    distance = (table["gap"] + margin).abs()
    table = table.assign(distance=pd.cut(distance, GAPS, right=False))
    key = f"{margin:g}"
    out = table.groupby("distance", observed=True).agg(
        pairs=("pair", "size"),
        items=("items", "mean"),
        right=(f"right {key}", "mean"),
        wrong=(f"wrong {key}", "mean"),
        worst=(f"wrong {key}", "max"),
        stop=(f"stop {key}", "mean"),
        fixed=(f"fixed {key}", "mean"),
        reachable=(f"reachable {key}", "sum"),
    )
    return out.reset_index()


def graded_alarms(folder: Path, replays: int) -> dict[str, float]:
    """Share of sign-flip tests below α; at each item ten models are split at random into halves."""
    rng, shares = np.random.default_rng(0), {}
    for name in ("ifeval_models", "zeroeval_crux", "math_hard_models"):
        scores = pd.read_parquet(folder / f"{name}.parquet").set_index("item_id").to_numpy(float)
        drawn = (rng.choice(scores.shape[1], 10, replace=False) for _ in range(replays))
        halves = (rng.permuted(scores[:, ten], axis=1).reshape(-1, 2, 5).mean(2) for ten in drawn)
        p_values = [sign_flip_p(h[:, 1] - h[:, 0], np.arange(len(h)), 0) for h in halves]
        shares[name] = float(np.mean(np.array(p_values) < ALPHA))
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=DATA)
    parser.add_argument("--replays", type=int, default=10_000)
    parser.add_argument("--orders", type=int, default=1_000)
    parser.add_argument("--smallest", action="store_true", help="Two made-up pairs.")
    given = parser.parse_args()
    if given.smallest:
        groups = {"made up": made_up()}
    else:
        folder = real_data(given.folder) / "responses_2"
        groups = {"LawBench": lawbench(folder), "MIRAGE": mirage(folder)}
        print(f"false alarms on graded scores: {graded_alarms(folder, given.orders)}")
    pd.set_option("display.width", 250, "display.max_columns", 30, "display.max_rows", 200)
    pd.set_option("display.max_colwidth", 80, "display.float_format", "{:.4f}".format)
    itself = first_decision(betting_evidence(np.zeros(1_000), MARGIN, 1_000), ALPHA)
    print(f"a model against itself, margin {MARGIN}, 1,000 items: {itself}")
    for name, pairs in groups.items():
        arrays = {pair: row.to_numpy() for pair, row in pairs.items()}
        print(f"\n{name}: {len(pairs)} pairs; decisions, margin {MARGIN}, alpha {ALPHA}")
        made = pd.DataFrame(decisions(pairs))
        print(made.to_string(index=False), flush=True)
        table = replayed(arrays, given.orders)
        for margin in (0.0, MARGIN):
            print(f"\n{name}: {given.orders} orders of each pair, by distance from −{margin}")
            print(by_gap(table, margin).to_string(index=False), flush=True)
        alarms = false_alarms(arrays, given.replays, given.orders).set_index("pair")
        print(f"\n{name}: false decisions, {given.replays} and {given.orders} replays of each pair")
        print(alarms.agg(["mean", "max", "count"]).T.to_string(), flush=True)


if __name__ == "__main__":
    main()
