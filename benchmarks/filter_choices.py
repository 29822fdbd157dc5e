"""Which filter models leave the ranking of other models alone? SMART's rule "easy" on real answers.

    python benchmarks/filter_choices.py <folder with responses/> [--panels …] [--draws 1000]

The filter models come from a pool, and the models outside it judge: half of the families (eight
splits), or the best 30% of the models judge, and models of their families leave the pool. The kept
items are compared with random subsets of the same size. The default was chosen on `TUNING`;
`CONFIRMING` has other benchmarks, on which nothing was chosen.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.answers.model_descriptions import describe_name
from benchwright.methods.dele.evidence.panels import split_by_family, split_forward
from benchwright.statistics.percentile import holm, percentile_among, two_sided_p
from benchwright.statistics.rank_agreement import kendall_tau_b_rows
from benchwright.statistics.subset_scores import spread_top_rows, subset_scores
from real_data import real_data

TUNING = ("arc_challenge", "gsm8k", "mmlu_23", "zeroeval_crux", "zeroeval_gsm", "zeroeval_math_l5")
CONFIRMING = (
    *("arc_challenge_317", "winogrande", "mmlu", "medqa"),
    *("lawbench_zero_shot", "lawbench_one_shot", "math_hard", "ifeval"),
)
LEADERBOARD = ("arc_challenge", "arc_challenge_317", "gsm8k", "winogrande", "mmlu")
SHARE, STRONGER = 0.5, 0.7
JUDGES = 150  # at most, drawn at random
FEWEST = 10  # models in a pool; fewer, and relatives of the judges stay in it
TOP = 20
RETAINED = 0.1  # of the easy items

Places = NDArray[np.intp]
Float = NDArray[np.float64]


class Answers(NamedTuple):
    """Right (1) and wrong (0) answers (m, n) of models with their names and families."""

    correct: NDArray[np.float32]
    models: list[str]
    families: list[str]


class Choice(NamedTuple):
    """Which models of a pool filter."""

    start: float | str  # skip this share of the strongest; `spread` over the pool, or `all` of it
    count: int = 7
    by_family: bool = False  # at most one model of a family

    def __str__(self) -> str:
        if self.start == "all":
            return "the whole pool"
        among = {0: "strongest", 0.25: "strongest below the top quarter", 0.5: "weaker half"}
        among |= {0.67: "weakest third"}
        name = "spread over the pool" if self.start == "spread" else among[self.start]
        return f"{name}, {self.count} {'families' if self.by_family else 'models'}"


SHORT = (
    Choice(0),
    Choice(0, by_family=True),
    Choice("spread", by_family=True),
    Choice(0.5),
    Choice(0.5, by_family=True),
    Choice("all"),
)


class Run(NamedTuple):
    """What one choice did to the judges of one split."""

    panel: str
    split: str
    choice: Choice
    judges: int
    kept: float  # share of the items
    tau: float  # tau-b with all items
    random: float  # mean of the random subsets
    percentile: float
    p: float
    range: float  # of the best judges, in points
    random_range: float
    range_percentile: float


def _wide(path: Path) -> pd.DataFrame:
    return pd.read_parquet(path).set_index("item_id")


def _by_letters(letters: pd.DataFrame, items: pd.DataFrame) -> NDArray[np.float32]:
    gold = items.set_index("item_id")["answer"].reindex(letters.index).to_numpy()
    return (letters.to_numpy() == gold[:, None]).T.astype(np.float32)


def _leaderboard(folder: Path, name: str) -> Answers:
    table = pd.read_parquet(folder / f"leaderboard_v1_{name.removesuffix('_317')}.parquet")
    table = table.drop_duplicates("model").set_index("model")
    correct = table.to_numpy(np.float32, na_value=np.nan)
    if name.endswith("_317"):
        correct = correct[:, 2 * np.count_nonzero(~np.isnan(correct), axis=0) >= len(correct)]
    facts = pd.read_parquet(folder / "leaderboard_v1_models.parquet").drop_duplicates("name")
    facts = facts.set_index("name").reindex(table.index)
    known = facts["arch"].notna() & (facts["arch"] != "error")
    whole = ~np.isnan(correct).any(axis=1) & known.to_numpy()
    families = facts["arch"].astype(str) + "/" + facts["size"].round(1).astype(str)
    return Answers(correct[whole], list(table.index[whole]), families[whole].tolist())


def read(folder: Path, name: str) -> Answers:
    """Return complete answers; a family is architecture and size, or the base model in the name."""
    first, second = folder / "responses", folder / "responses_2"
    if name in LEADERBOARD:
        return _leaderboard(first, name)
    if name == "mmlu_23":
        table = _wide(first / "mmlu_correct_23models.parquet").dropna()
    elif name == "medqa":
        table = _wide(second / "medqa_letters_23models.parquet")
        right = _by_letters(table, pd.read_parquet(second / "medqa_items.parquet"))
        return Answers(right, list(table), [describe_name(model).family for model in table])
    elif name.startswith("lawbench"):
        table = _wide(second / "lawbench_letters_51models.parquet")
        prompt = "|" + name.removeprefix("lawbench_")
        table = table[[column for column in table if column.endswith(prompt)]]
        right = _by_letters(table, pd.read_parquet(second / "lawbench_items.parquet"))
        models = [column.removesuffix(prompt) for column in table]
        return Answers(right, models, [describe_name(model).family for model in models])
    else:
        files = {"math_hard": "math_hard_models", "ifeval": "ifeval_models"}
        table = _wide(second / f"{files.get(name, name)}.parquet")
    families = [describe_name(model).family for model in table]
    return Answers(table.T.to_numpy(np.float32), list(table), families)


def splits(answers: Answers, count: int) -> Iterator[tuple[str, Places, Places]]:
    """Yield a name, the pool and the judges."""
    models, families = answers.models, np.array(answers.families, dtype=object)
    for number in range(count):
        pool, judges = split_by_family(answers.families, number, SHARE)
        yield f"families {number}", pool, judges
    pool, judges = split_forward(models, answers.correct.mean(axis=1), STRONGER)
    away = pool[~np.isin(families[pool], list(set(families[judges])))]
    yield "stronger", away if len(away) >= FEWEST else pool, judges


def filter_models(choice: Choice, ranked: Sequence[int], families: Sequence[str]) -> list[int]:
    """Return the filter models out of a pool, strongest first; fewer where the pool has fewer."""
    if choice.start == "all":
        return list(ranked)
    share = 0.0 if isinstance(choice.start, str) else choice.start
    candidates = list(ranked[int(np.ceil(share * len(ranked))) :])
    if choice.by_family:
        best: dict[str, int] = {}
        for place in candidates:
            best.setdefault(families[place], place)
        candidates = list(best.values())
    k = min(choice.count, len(candidates))
    if choice.start == "spread":
        return [candidates[int((i + 0.5) * len(candidates) / k)] for i in range(k)]
    return candidates[:k]


def kept_weights(right: NDArray[np.bool_], seed: int) -> Float:
    """Return the weights (n,) of the items, 0 = removed, by the filter models (k, n)."""
    easy = np.flatnonzero(right.all(axis=0))
    weights = np.ones(right.shape[1])
    weights[easy] = 0
    stay = np.random.default_rng(seed).permutation(easy)[: round(RETAINED * len(easy))]
    weights[stay] = 1
    return weights


class Judges:
    """The answers (m, n) of the judges, and what random subsets of some sizes do to them."""

    def __init__(self, correct: NDArray[np.float32], sizes: Iterable[int], draws: int) -> None:
        self.correct = correct
        self.full = subset_scores(correct, np.ones((1, correct.shape[1])))
        wanted = np.unique(list(sizes))
        scores = np.empty((len(wanted), draws, len(correct)))
        rng = np.random.default_rng(0)
        for draw in range(draws):  # the first items of a random order are a random subset
            right = np.cumsum(correct[:, rng.permutation(correct.shape[1])], axis=1, dtype=np.int32)
            scores[:, draw] = (right[:, wanted - 1] / wanted).T
        self.random = dict(zip(wanted.tolist(), map(self.metrics, scores.round(12)), strict=True))

    def metrics(self, scores: Float) -> tuple[Float, Float]:
        """Return tau-b with all items and the range of the best, of each row of scores."""
        return kendall_tau_b_rows(self.full, scores), 100 * spread_top_rows(scores, TOP)

    def compare(self, weights: Float) -> tuple[float, ...]:
        """Return the last fields of a `Run`."""
        metrics = self.metrics(subset_scores(self.correct, weights[None]))
        tau, spread = (float(values[0]) for values in metrics)
        taus, spreads = self.random[int(np.count_nonzero(weights))]
        at, p = percentile_among(tau, taus), two_sided_p(tau, taus)
        wider = percentile_among(spread, spreads)
        return tau, float(taus.mean()), at, p, spread, float(spreads.mean()), wider


def study(
    name: str, answers: Answers, choices: Sequence[Choice], count: int, draws: int
) -> Iterator[Run]:
    """Yield what each choice does on each split of a panel."""
    n = answers.correct.shape[1]
    for number, (split, pool, outside) in enumerate(splits(answers, count)):
        some = np.sort(np.random.default_rng(number).permutation(outside)[:JUDGES])
        accuracy = answers.correct[pool].mean(axis=1, dtype=np.float64)
        ranked = pool[np.argsort(-accuracy, kind="stable")].tolist()
        kept = []
        for choice in choices:
            chosen = filter_models(choice, ranked, answers.families)
            kept.append(kept_weights(answers.correct[chosen] >= 1, number))
        sizes = [int(np.count_nonzero(weights)) for weights in kept]
        judges = Judges(answers.correct[some], sizes, draws)
        for choice, size, weights in zip(choices, sizes, kept, strict=True):
            yield Run(name, split, choice, len(some), size / n, *judges.compare(weights))


def counted(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row per choice: runs below, inside, above; removed share and range of the best."""
    runs = runs.assign(
        below=runs["percentile"] < 2.5,
        above=runs["percentile"] > 97.5,
        removed=1 - runs["kept"],
        wider=runs["range"] / runs["random_range"],
    )
    runs["p_holm"] = runs.groupby(["panel", "split"])["p"].transform(holm)
    runs["worse"] = runs["below"] & (runs["p_holm"] < 0.05)
    sums = runs.groupby("choice")[["below", "worse", "above"]].sum().astype(int)
    sums.insert(0, "runs", runs.groupby("choice").size())
    by_panel = runs.groupby(["choice", "panel"])[["removed", "percentile", "wider"]].mean()
    table = sums.join(by_panel.groupby("choice").mean())
    return table.sort_values(["below", "wider"], ascending=[True, False])


def print_choices(title: str, runs: pd.DataFrame) -> None:
    print(f"\n{title}\n")
    print("| filter models | runs | below | worse, Holm | above | removed | percentile | range |")
    print("|---|---|---|---|---|---|---|---|")
    for row in counted(runs).itertuples():
        print(
            f"| {row.Index} | {row.runs} | {row.below} | {row.worse} | {row.above} "
            f"| {row.removed:.1%} | {row.percentile:.0f} | × {row.wider:.2f} |"
        )


def main() -> None:
    """Print the choices on both lots of panels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--panels", nargs="+", default=(*TUNING, *CONFIRMING))
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--splits", type=int, default=8, help="random halves of the families")
    given = parser.parse_args()
    folder = real_data(given.folder)
    runs = []
    for name in given.panels:
        answers = read(folder, name)
        m, n = answers.correct.shape
        print(f"{name}: {m:,} models of {len(set(answers.families)):,} families, {n:,} items")
        runs += study(name, answers, SHORT, given.splits, given.draws)
    table = pd.DataFrame(runs)
    table["choice"] = table["choice"].map(str)
    tuning = table["panel"].isin(TUNING)
    for title, some in (("Tuning", table[tuning]), ("Confirming", table[~tuning])):
        if len(some):
            print_choices(title, some)


if __name__ == "__main__":
    main()
