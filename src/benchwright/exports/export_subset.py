"""A subset that stands for a benchmark, as tasks of its own and as rows of the harness's tasks."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.flat_arguments import flat_arguments
from benchwright.datasets.harness_tasks import HarnessExport, HarnessFamily
from benchwright.datasets.subset_manifest import SubsetItem, SubsetManifest, hashed, ids_hash
from benchwright.exports.export import (
    ExportedRun,
    ItemSet,
    check_families,
    families_of,
)
from benchwright.exports.instructions import subset_instructions
from benchwright.exports.stock_samples import samples_of_benchmark
from benchwright.params.sampling import SamplingParams
from benchwright.prompting.rendering import questions

CHOSEN, RANDOM = "chosen", "random"
EVERYONE = -1  # the split of `SamplerChoice` in which all models choose
EQUAL = "all items count alike: the accuracy that the harness prints is the subset's score"
WEIGHTED = (
    "the score is the sum of weight times answer; the harness prints the plain mean, which is not "
    "it: give the log to `benchwright estimate`"
)


@flat_arguments
def export_subset(
    items: pd.DataFrame,
    chosen_subset: pd.DataFrame,
    sampler_choice: pd.DataFrame,
    demonstrations: pd.DataFrame,
    sampling: SamplingParams,
    mirror_root: str,
    run: ExportedRun,
) -> HarnessExport:
    """Write the chosen items as tasks, with their weights, and as rows of stock tasks.

    Rows carry `weight`. The harness weighs items only by code that it runs for a task, so tasks
    have its own metrics; the manifest says what the score is, and lists items and weights for
    `benchwright estimate`.

    Args:
        items: an `Items` table, all of the benchmark.
        chosen_subset: a `ChosenSubset` table over its ids.
        sampler_choice: a `SamplerChoice` table, which says what `sampling.export.sampler: chosen`
            came to.
        demonstrations: an `Items`-like table.
        sampling: its section `export` says how the subset was drawn; recorded only.
        mirror_root: where the items were read from, if anywhere.
        run: given field by field; `exports.original` does not count here.

    Raises:
        InputError: an id is not the benchmark's, or no item suits the styles asked for.
    """
    benchmark = run.ingestion
    stock = samples_of_benchmark(items, chosen_subset["item_id"], benchmark, mirror_root)
    sampler = sampler_of(sampling, sampler_choice)
    subset = subset_manifest(
        items, chosen_subset, sampler, sampling.export.seed, benchmark.name, stock.places
    )
    rows = items.set_index("item_id", drop=False).loc[list(subset.item_ids)]
    chosen = ItemSet(f"{sampler}_{len(subset.items)}", questions(rows), demonstrations)
    weights = {item.item_id: item.weight for item in subset.items}
    families = [_weighted(family, weights) for family in families_of([chosen], run)]
    check_families(families, run)
    facts = {**run.facts(), "subset": subset.model_dump(mode="json")}
    readme = subset_instructions(benchmark, families, stock, subset)
    return HarnessExport(families, stock.rows, readme, facts)


def subset_manifest(
    items: pd.DataFrame,
    chosen_subset: pd.DataFrame,
    sampler: str,
    seed: int,
    benchmark: str,
    stock: Mapping[str, tuple[str, int]],
) -> SubsetManifest:
    """What `benchwright estimate` needs of a subset; `stock` is {} where places are not known.

    Raises:
        InputError: an id is not among the items.
    """
    hashes = dict(zip(items["item_id"].astype(str), items["content_hash"], strict=True))
    unknown = [name for name in chosen_subset["item_id"] if name not in hashes]
    if unknown:
        raise InputError(f"chosen item {unknown[0]} is not among the benchmark's items")
    weights = chosen_subset["weight"].to_numpy(np.float64)
    chosen = tuple(
        SubsetItem(item_id=name, weight=weight, content_hash=hashes[name], stock=stock.get(name))
        for name, weight in zip(chosen_subset["item_id"], weights.tolist(), strict=True)
    )
    equal = bool(np.allclose(weights, 1 / len(weights)))
    return SubsetManifest(
        benchmark=benchmark,
        sampler=sampler,
        seed=seed,
        rate=round(100 * len(chosen) / len(items), 4),
        of_items=len(items),
        of_items_hash=ids_hash(list(hashes)),
        items_hash=ids_hash(hashed(chosen)),
        equal_weights=equal,
        scoring=EQUAL if equal else WEIGHTED,
        items=chosen,
    )


def sampler_of(sampling: SamplingParams, sampler_choice: pd.DataFrame) -> str:
    """The sampler that drew the subset: the one that is named, or that all models chose."""
    if sampling.export.sampler != CHOSEN:
        return sampling.export.sampler
    winner = sampler_choice.loc[sampler_choice["split"] == EVERYONE, "winner"]
    return str(winner.iloc[0]) if len(winner) and winner.iloc[0] else RANDOM


def _weighted(family: HarnessFamily, weights: Mapping[str, float]) -> HarnessFamily:
    """The same tasks with the weight of each item in its row."""
    return family._replace(
        tasks=[
            task._replace(rows=[row | {"weight": weights[row["item_id"]]} for row in task.rows])
            for task in family.tasks
        ]
    )
