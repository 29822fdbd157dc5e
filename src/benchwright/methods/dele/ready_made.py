"""Ready-made subsets: random items of known benchmarks, and numbers that estimate the full score.

For each item of a benchmark the package has a hash of its text and three numbers made of other
models' answers (`benchmarks/ready_made.py`): the share of right ones, and two loadings, the main
directions in which models differ. They predict a new model's answers to the items that it was not
asked; the difference estimator corrects the predictions by the answers to those that it was asked.
"""

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchwright.answers.table import Answers
from benchwright.core.array_types import Floats, Places
from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError, expected
from benchwright.core.seeding import item_uniforms, stage_generator
from benchwright.core.text_folding import single_spaced
from benchwright.exports.export import subset_manifest
from benchwright.exports.subset_manifest import MANIFEST, SubsetManifest
from benchwright.methods.dele.estimation.aipw import aipw_with
from benchwright.methods.dele.estimation.estimated_scores import Estimated, estimate_scores
from benchwright.methods.dele.estimation.item_predictions import ItemPredictor
from benchwright.statistics.unequal_draws import systematic_draw

FEWEST = 20
"""Minimum size of a ready-made subset."""
PENALTY = 0.1
"""Of the squared coefficients of the loadings."""
_FREE = 30.0  # a feature of this size is hardly penalised
_DIGITS = 16  # of a text's hash
_STAGE = "ready-made subset"


class StockTask(NamedTuple):
    """A benchmark as lm-evaluation-harness asks it: rows of a split of a data set of the Hub."""

    task: str  # `{subject}` stands for the item's subject
    dataset: str
    split: str


STOCK_TASKS = {
    "arc_challenge": StockTask("arc_challenge", "allenai/ai2_arc, ARC-Challenge", "test"),
    "gsm8k": StockTask("gsm8k", "openai/gsm8k, main", "test"),
    "mmlu": StockTask("mmlu_{subject}", "cais/mmlu, all", "test"),
    "winogrande": StockTask("winogrande", "allenai/winogrande, winogrande_xl", "validation"),
}


def item_key(question: str, choices: list[str] | tuple[str, ...] = ()) -> str:
    """Return 16 hexadecimal digits for a question with its options in any order.

    White space at the ends and its kind and amount in between do not matter.
    """
    return content_hash(single_spaced(question), sorted(map(single_spaced, choices)))[:_DIGITS]


class ReadyMade(NamedTuple):
    """The n items of a benchmark, in the order of the rows of its stock data set.

    Attributes:
        name: of the benchmark.
        keys: n hashes (`item_key`).
        subjects: n subjects, "" where the benchmark has none.
        share: (n,) shares of right answers in [0, 1], NaN for items without answers.
        loadings: (2, n), NaN for the same items.
        models: number of models that the numbers are made of.
    """

    name: str
    keys: tuple[str, ...]
    subjects: tuple[str, ...]
    share: Floats
    loadings: Floats
    models: int

    @property
    def places(self) -> list[tuple[str, int]]:
        """Stock task of each item and its row there, from 0."""
        subjects = pd.Series(self.subjects, dtype="str")
        tasks = [STOCK_TASKS[self.name].task.replace("{subject}", name) for name in subjects]
        return list(zip(tasks, subjects.groupby(subjects).cumcount().tolist(), strict=True))

    @property
    def item_ids(self) -> tuple[str, ...]:
        """`<task>/<row>` of each item, as logs of the stock task name it."""
        return tuple(f"{task}/{row}" for task, row in self.places)

    def predictor(self, order: Places | None = None) -> ItemPredictor:
        """Return the predictor of answers to the items, in some order of them.

        Items with and without answers of other models have a free level each.
        """
        known = ~np.isnan(self.share)
        offset = np.where(known, self.share, np.nanmean(self.share))
        features = np.where(known, self.loadings, 0)
        levels = _FREE * np.stack([known, ~known])
        whole = ItemPredictor(offset, np.vstack([features, levels]), PENALTY)
        if order is None:
            return whole
        return whole._replace(offset=offset[order], features=whole.features[:, order])

    def draw(self, size: int) -> Places:
        """Return the positions (size,) of a random draw, the same for everyone.

        Each item has the same probability. Subjects, and items with and without answers of other
        models within them, have their shares of the draw.

        Raises:
            InputError: the size is below 20, or there are not as many items.
        """
        n = len(self.keys)
        if not FEWEST <= size <= n:
            raise InputError(f"{self.name}-{size}: expected a size from {FEWEST} to {n:,}")
        uniforms = item_uniforms(0, _STAGE, self.keys)
        order = np.lexsort((uniforms, np.isnan(self.share), np.array(self.subjects)))
        start = stage_generator(0, _STAGE).random()
        return np.sort(systematic_draw(np.full(n, size / n), order, start))

    def manifest(self, size: int) -> SubsetManifest:
        """Return the manifest of the draw of this size."""
        items = pd.DataFrame({"item_id": self.item_ids, "content_hash": self.keys})
        chosen = items.iloc[self.draw(size)].assign(weight=1 / size, inclusion=np.nan)
        return subset_manifest(items, chosen, "stratified", 0, self.name)

    def find(self, items: pd.DataFrame | None, item_ids: Sequence[str]) -> dict[str, int]:
        """Return the places in `item_ids` of items of logs, by `item_ids` of this benchmark.

        Texts tell which they are; without any, ids do. Items with the same text follow each
        other in logs; one that a log has once is found for all.
        """
        places = {name: at for at, name in enumerate(item_ids)}
        if items is None or not items["question"].any():
            return places
        asked: dict[str, list[int]] = {}
        for row in items[items["item_id"].isin(places)].to_dict("records"):
            choices = [] if row["choices"] is None else list(map(str, row["choices"]))
            key = item_key(row["question"], choices)
            asked.setdefault(key, []).append(places[row["item_id"]])
        found: dict[str, int] = {}
        for key, name in zip(self.keys, self.item_ids, strict=True):
            if key in asked:
                same = asked[key]
                found[name] = same.pop(0) if len(same) > 1 else same[0]
        return found

    def rename(self, known: Answers) -> Answers:
        """Name items of logs as `item_ids` by their texts; ids of tables stay as they are."""
        columns = self.find(known.items, known.item_ids)
        for place in sorted(set(range(len(known.item_ids))) - set(columns.values())):
            columns[f"{known.item_ids[place]} (another text)"] = place
        correct = known.correct[:, list(columns.values())]
        return known._replace(item_ids=tuple(columns), correct=correct, items=None, chosen=None)


def load_ready_made(name: str) -> ReadyMade:
    """Return the items of a benchmark, by its name in `STOCK_TASKS`.

    Raises:
        InputError: there is no such benchmark.
    """
    if name not in STOCK_TASKS:
        raise InputError(f"subset: no benchmark {name!r}; {expected(name, list(STOCK_TASKS))}")
    file = resources.files("benchwright.methods.dele") / "ready_made_items" / f"{name}.parquet"
    with resources.as_file(file) as path:
        table = pd.read_parquet(path)
    return ReadyMade(
        name,
        keys=tuple(key.hex() for key in table["key"]),
        subjects=tuple(table["subject"].astype(str)),
        share=table["share"].to_numpy(np.float64),
        loadings=table[["first", "second"]].to_numpy(np.float64).T,
        models=int(table.attrs["models"]),
    )


def find_ready_made(given: Path | None) -> tuple[ReadyMade, int] | None:
    """Return the benchmark and the size in a name such as `mmlu-300`; None for other names.

    Raises:
        InputError: there is also a subset of this name here.
    """
    benchmark, _, size = str(given).rpartition("-")
    if given is None or benchmark not in STOCK_TASKS or not size.isdecimal():
        return None
    if given.is_file() or (given / MANIFEST).exists():
        raise InputError(
            f"{given}: a ready-made subset, and one in this folder; give {given.absolute()} for "
            "that, or rename it"
        )
    return load_ready_made(benchmark), int(size)


def estimate_ready_made(
    ready: ReadyMade, size: int, new: Answers, level: float = 0.95
) -> Estimated:
    """Estimate the scores of new models on all items from their answers to the draw of a size.

    Raises:
        InputError: no answer is to one of its items.
    """
    places = ready.draw(size)
    others = np.setdiff1d(np.arange(len(ready.keys)), places)
    kind = aipw_with(ready.predictor(np.concatenate([places, others])))
    found = estimate_scores(ready.manifest(size), ready.rename(new), None, kind, level=level)
    return found._replace(training=ready.models, source="numbers of the package")
