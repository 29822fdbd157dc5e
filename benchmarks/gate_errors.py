"""False decisions of `benchwright gate` where the true difference is exactly the margin.

    python benchmarks/gate_errors.py [FOLDER with responses/] [--pairs 40]

Of independent items every outcome is added up with its probability, so that the shares are exact:
on a grid of items drawn, items of the benchmark, margins and changed answers, and for pairs of real
models that differ in 1–12% of their answers, whose true difference is taken as the margin. A former
rule, the t interval of the mean difference, and Tango's interval stand beside the one in use.
Decided are pairs without a difference (not worse) or with one of twice the margin (worse).
Clustered items are simulated: rates of better and of worse items that vary between clusters.
"""

import argparse
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gammaln, ndtri, stdtrit

from benchwright.statistics.paired_intervals import INFINITE, exact_interval, score_interval
from benchwright.statistics.paired_tests import paired_difference
from benchwright.statistics.proportion import wilson_bounds
from real_data import DATA, real_data

ALPHA = 0.05
QUANTILE = float(ndtri(1 - ALPHA))
DRAWN = (100, 300, 1_000)
TOTALS = (1_172, 14_042, INFINITE)
MARGINS = (0.01, 0.02, 0.05)
CHANGED = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12)
CLUSTERS = ((10, 50), (20, 10), (50, 4))
ANSWERS = {
    "ARC-Challenge": "responses/leaderboard_v1_arc_challenge.parquet",
    "GSM8K": "responses/leaderboard_v1_gsm8k.parquet",
    "GSM8K, written": "responses_2/zeroeval_gsm.parquet",
    "CRUX": "responses_2/zeroeval_crux.parquet",
    "IFEval": "responses_2/ifeval_models.parquet",
    "MATH": "responses_2/math_hard_models.parquet",
    "MMLU": "responses/mmlu_correct_23models.parquet",
}
MODELS = 600
Floats = NDArray[np.float64]
Interval = Callable[[int, int, int, int], tuple[float, float]]


def by_exact(better: int, worse: int, n: int, total: int) -> tuple[float, float]:
    return exact_interval(better, worse, n, total, 1 - 2 * ALPHA)


@cache
def by_tango(better: int, worse: int, n: int, total: int) -> tuple[float, float]:
    effective = n * (total - 1) / (total - n)
    scale = effective / n
    return score_interval(better * scale, worse * scale, effective, QUANTILE)


def by_t(better: int, worse: int, n: int, total: int) -> tuple[float, float]:
    mean = (better - worse) / n
    if not better + worse:  # all estimated responses were 1/2
        low, high = wilson_bounds(0.5, n * (total - 1) / (total - n), QUANTILE)
        return float(2 * low - 1), float(2 * high - 1)
    variance = max(better + worse - n * mean**2, 0.0) / (n - 1)
    reach = float(stdtrit(n - 1, 1 - ALPHA)) * (variance * (1 / n - 1 / total)) ** 0.5
    return mean - reach, mean + reach


RULES: dict[str, Interval] = {"former": by_t, "Tango": by_tango, "exact": by_exact}


class Case(NamedTuple):
    """Numbers of items of a benchmark, of those drawn, and of those that are better and worse."""

    n: int
    total: int
    better: int
    worse: int

    @property
    def most(self) -> int:
        """The largest number of drawn items of a kind that counts."""
        mean = self.n * max(self.better, self.worse) / self.total
        return min(self.n, int(mean + 7 * mean**0.5 + 8))

    def chances(self) -> Floats:
        """Return the probability of each number of better (rows) and of worse items."""
        numbers = np.arange(self.most + 1)
        better, worse = numbers[:, None], numbers
        rest = self.n - better - worse
        kinds = (self.better, self.worse, self.total - self.better - self.worse)
        log = np.zeros(rest.shape)
        for kind, drawn in zip(kinds, (better, worse, rest), strict=True):
            possible = (drawn >= 0) & (drawn <= kind)
            number = np.where(possible, drawn, 0)
            ways = gammaln(kind + 1) - gammaln(number + 1) - gammaln(kind - number + 1)
            log = log + np.where(possible, ways, -np.inf)
        every = gammaln(self.total + 1) - gammaln(self.n + 1) - gammaln(self.total - self.n + 1)
        return np.exp(log - every)


def decided(case: Case, margin: float, rule: Interval) -> tuple[NDArray[np.bool_], ...]:
    """Mark the outcomes that are not worse, and those that are worse.

    More better items only raise both bounds, so the first that decides is searched.
    """
    size = case.most + 1
    not_worse = np.zeros((size, size), dtype=np.bool_)
    worse = np.zeros((size, size), dtype=np.bool_)
    for lost in range(size):
        last = min(size, case.n - lost + 1)

        def first(passes: Callable[[int], bool], high: int = last) -> int:
            low = -1
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if passes(middle) else (middle, high)
            return high

        def bounds(gained: int, lost: int = lost) -> tuple[float, float]:
            return rule(gained, lost, case.n, case.total)

        not_worse[first(lambda gained, at=bounds: at(gained)[0] > -margin) : last, lost] = True
        worse[: first(lambda gained, at=bounds: at(gained)[1] >= -margin), lost] = True
    return not_worse, worse


def case_of(n: int, total: int, margin: float, changed: float) -> Case:
    gap = round(margin * total)
    worse = max((round(changed * total) + gap) // 2, gap)
    return Case(n, total, worse - gap, worse)


def grid(drawn: Any = DRAWN, totals: Any = TOTALS, margins: Any = MARGINS) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for total, n, nominal in product(totals, drawn, margins):
        margin = round(nominal * total) / total
        shares = [share for share in CHANGED if share >= nominal]
        widest = case_of(n, total, margin, max(shares))
        for name, rule in RULES.items():
            marks = decided(widest, margin, rule)
            for share in shares:
                row: dict[str, Any] = {"rule": name, "of": total, "items": n, "margin": nominal}
                row["changed"] = share
                at = case_of(n, total, margin, share)
                for what, times, mark in (
                    ("false not worse", 1, marks[0]),
                    ("false worse", 1, marks[1]),
                    ("not worse", 0, marks[0]),
                    ("worse", 2, marks[1]),
                ):
                    if share < times * nominal:
                        continue
                    case = case_of(n, total, times * margin, share)
                    size = min(case.most, widest.most) + 1
                    row[what] = case.chances()[:size, :size][mark[:size, :size]].sum()
                low, high = rule(
                    round(n * at.better / total), round(n * at.worse / total), n, total
                )
                row["width"] = high - low
                rows.append(row)
    return pd.DataFrame(rows)


def answers(folder: Path, rng: np.random.Generator) -> Iterator[tuple[str, Floats]]:
    """Yield the answers (models × items, 0 and 1) of at most 600 models of each benchmark."""
    for name, file in ANSWERS.items():
        if not (folder / file).exists():
            continue
        table = pd.read_parquet(folder / file)
        right = table.set_index(table.columns[0]).to_numpy(dtype=np.float64)
        if table.columns[0] == "item_id":
            right = right.T
        right = right[~np.isnan(right).any(axis=1)]
        yield name, right[rng.permutation(len(right))[:MODELS]]


def relatives(folder: Path, most: int, drawn: Any = (100, 300)) -> Iterator[dict[str, Any]]:
    """Yield the false decisions on pairs whose true difference is the margin."""
    rng = np.random.default_rng(0)
    for name, right in answers(folder, rng):
        agree = right @ right.T + (1 - right) @ (1 - right).T
        changed = 1 - agree / right.shape[1]
        first, second = np.nonzero(np.triu((changed >= 0.01) & (changed <= 0.12), 1))
        for at in rng.permutation(len(first))[:most]:
            d = right[second[at]] - right[first[at]]
            better, worse = sorted((int((d > 0).sum()), int((d < 0).sum())))
            margin = (worse - better) / len(d)
            for n in drawn:
                case = Case(n, len(d), better, worse)
                row: dict[str, Any] = {"benchmark": name, "items": n, "pair": int(at)}
                row |= {"changed": (better + worse) / len(d), "margin": margin}
                chances = case.chances()
                for rule, interval in RULES.items():
                    marks = decided(case, margin, interval)
                    for what, mark in zip(("not worse", "worse"), marks, strict=True):
                        row[f"{what}, {rule}"] = chances[mark].sum()
                yield row


def draws(folder: Path, pairs: int, n: int = 300, margin: float = 0.02) -> Iterator[dict[str, Any]]:
    """Yield the decision on a draw for each of some pairs of models, and the truth."""
    rng = np.random.default_rng(1)
    for name, right in answers(folder, rng):
        total = right.shape[1]
        for _ in range(pairs):
            first, second = right[rng.choice(len(right), 2, replace=False)]
            d = second - first
            picked = d[rng.choice(total, n, replace=False)]
            found = paired_difference(picked, np.arange(n), 1 - 2 * ALPHA, total)
            yield {
                "benchmark": name,
                "distance": abs(d.mean() + margin),
                "difference": abs(d.mean()),
                "truth": "worse" if d.mean() < -margin else "not worse",
                "not worse": found.low > -margin,
                "worse": found.high < -margin,
                "low is above": found.low > d.mean(),
                "high is below": found.high < d.mean(),
            }


def clustered(replays: int) -> Iterator[dict[str, Any]]:
    """Yield the false decisions with clusters between which the rates of changes vary."""
    rng = np.random.default_rng(0)
    for (groups, size), margin, changed, likeness in product(
        CLUSTERS, (0.02, 0.05), (0.1, 0.2), (0.0, 0.02, 0.05, 0.1)
    ):
        means = np.array([changed - margin, changed + margin]) / 2
        labels = np.repeat(np.arange(groups), size)
        false = np.zeros(2)
        for _ in range(replays):
            rates = np.tile(means, (groups, 1))
            if likeness:
                known = 1 / likeness - 1
                rates = rng.beta(means * known, (1 - means) * known, (groups, 2))
            rates = rates / np.maximum(rates.sum(axis=1, keepdims=True), 1)
            draw = rng.random(groups * size)
            better, worse = np.repeat(rates, size, axis=0).T
            d = (draw < better) * 1.0 - (draw > 1 - worse) * 1.0
            found = paired_difference(d, labels, 1 - 2 * ALPHA)
            false += (found.low > -margin, found.high < -margin)
        yield {
            "clusters": groups,
            "of": size,
            "margin": margin,
            "changed": changed,
            "likeness": likeness,
            "false not worse": false[0] / replays,
            "false worse": false[1] / replays,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=DATA)
    parser.add_argument("--pairs", type=int, default=40, help="Pairs of each benchmark.")
    parser.add_argument("--replays", type=int, default=1_000)
    parser.add_argument("--smallest", action="store_true", help="A cell, and no real pairs.")
    given = parser.parse_args()
    pd.set_option("display.width", 250, "display.max_columns", 30, "display.max_rows", 200)
    pd.set_option("display.float_format", "{:.4f}".format)
    cells = grid((30,), (232,), (0.05,)) if given.smallest else grid()
    shown = cells.groupby(["of", "items", "margin", "rule"], sort=False).agg(
        {"false not worse": "max", "false worse": "max", "not worse": "mean", "worse": "mean"}
        | {"width": "mean"}
    )
    print("largest share of false decisions, mean share of decisions and width, by cell")
    print(shown.to_string(), flush=True)
    print(cells.groupby("rule", sort=False)[list(shown)].agg(["max", "mean"]).T.to_string())
    print("\nclustered items")
    print(pd.DataFrame(clustered(given.replays)).to_string(index=False), flush=True)
    if given.smallest:
        return
    folder = real_data(given.folder)
    found = pd.DataFrame(relatives(folder, given.pairs))
    print(f"\n{len(found)} real pairs and sizes at their own difference")
    rates = [name for name in found if "worse, " in name]
    print(found.groupby(["benchmark", "items"])[rates].agg(["mean", "max"]).T.to_string())
    print(found[rates].agg(["mean", "max"]).T.to_string(), flush=True)
    drawn = pd.DataFrame(draws(folder, 5 * given.pairs))
    drawn["right"] = np.where(drawn["truth"] == "worse", drawn["worse"], drawn["not worse"])
    drawn["wrong"] = np.where(drawn["truth"] == "worse", drawn["not worse"], drawn["worse"])
    drawn["within"] = pd.cut(drawn["distance"], [0, 0.02, 0.05, 1], right=False)
    rates = ["right", "wrong", "low is above", "high is below"]
    print(f"\na draw of 300 for each of {len(drawn):,} real pairs, margin .02")
    print(drawn[rates].mean().to_string())
    print(drawn.groupby("within", observed=True)[rates].mean().to_string())
    alike = drawn[drawn["difference"] < 0.01]
    print(f"called worse of {len(alike)} pairs within a point: {alike['worse'].mean():.4f}")


if __name__ == "__main__":
    main()
