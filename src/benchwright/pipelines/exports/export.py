"""Everything that is exported of one run."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pandas as pd

import benchwright
from benchwright.datasets.harness_tasks import HarnessExport, HarnessFamily
from benchwright.errors import InputError
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.exports import ExportsParams, ExportStyle
from benchwright.params.scoring import ScoringParams
from benchwright.pipelines.exports.harness_task import AskedAs, harness_family
from benchwright.pipelines.exports.instructions import HARNESS, instructions
from benchwright.pipelines.exports.stock_samples import samples_of_benchmark
from benchwright.pipelines.exports.task_names import slug

ORIGINAL = "original"


class ItemSet(NamedTuple):
    """Items with the demonstrations shown before them; `variant` says which they are."""

    variant: str
    items: pd.DataFrame
    demonstrations: pd.DataFrame


def export_tasks(
    items: pd.DataFrame,
    kept_items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    ingestion: BenchmarkParams,
    scoring: ScoringParams,
    exports: ExportsParams,
    variant: str,
    limit: int | None,
    mirror_root: str,
    seed: int,
    draws: pd.DataFrame | None = None,
) -> HarnessExport:
    """Write the benchmark and what the variant keeps of it as tasks, side by side.

    Prompts are those of scoring, with the demonstrations of `scoring` in the same order.

    Args:
        items: an `Items` table.
        kept_items: the variant's, likewise.
        demonstrations: the same columns.
        ingestion: the benchmark; its words around questions and its `harness` section.
        scoring: whose demonstrations come first, and how letters are scored.
        exports: what is exported.
        variant: its name.
        limit: of the run; recorded only.
        mirror_root: where the items were read from, if anywhere; see `samples_of_benchmark`.
        seed: of the demonstrations' order.
        draws: a `Draws` table; each of its conditions becomes tasks of its own.

    Raises:
        InputError: no item suits the styles asked for, or two tasks would have one name.
    """
    sets = [ItemSet(variant, kept_items, demonstrations)]
    if exports.original:
        sets.insert(0, ItemSet(ORIGINAL, items, demonstrations))
    if draws is not None:
        sets.extend(_drawn(draws))
    families = [
        family
        for item_set in sets
        for family in _families(item_set, ingestion, scoring, exports, seed)
    ]
    if not families:
        raise InputError(
            f"exports.styles: no item of benchmark {ingestion.name} can be asked in "
            f"{', '.join(exports.styles)}"
        )
    _names_differ(families)
    stock = samples_of_benchmark(items, kept_items["item_id"], ingestion, mirror_root)
    facts = {
        "format": 1,
        "benchwright": benchwright.__version__,
        "harness": HARNESS,
        "benchmark": ingestion.name,
        "licence": ingestion.licence,
        "variant": variant,
        "limit": limit,
        "seed": seed,
        "prompt": ingestion.prompt.model_dump(mode="json"),
        "exports": exports.model_dump(mode="json"),
        "scoring": scoring.model_dump(
            mode="json",
            include={"demonstrations", "demonstration_order", "label_tokens", "generation"},
        ),
        "stock_samples": {
            "tasks": {task: len(rows) for task, rows in stock.rows.items()},
            "reason_for_none": stock.reason,
        },
    }
    return HarnessExport(families, stock.rows, instructions(ingestion, families, stock), facts)


def _drawn(draws: pd.DataFrame) -> Iterator[ItemSet]:
    for condition, own in sorted(draws.groupby("condition"), key=lambda pair: str(pair[0])):
        role = own["role"]
        yield ItemSet(str(condition), own[role == "item"], own[role == "demonstration"])


def _families(
    item_set: ItemSet,
    ingestion: BenchmarkParams,
    scoring: ScoringParams,
    exports: ExportsParams,
    seed: int,
) -> Iterator[HarnessFamily]:
    """The set in each style that some of its items suit.

    The names of `letters`, and of `generate` where all items are open-ended, carry no style.
    """
    styles: tuple[ExportStyle, ...] = tuple(dict.fromkeys((*exports.styles, "generate")))
    with_options = bool(item_set.items["choices"].map(len).any())
    plain = "letters" if with_options else "generate"
    for style in styles:
        parts = [exports.prefix, slug(ingestion.name)]
        parts += [slug(item_set.variant)] if item_set.variant != ORIGINAL else []
        parts += [style] if style != plain else []
        family = harness_family(
            "_".join(parts),
            item_set.items,
            item_set.demonstrations,
            AskedAs(style, ingestion.prompt, scoring, exports, seed),
            {"benchmark": ingestion.name, "variant": item_set.variant},
        )
        if family.tasks:
            yield family


def _names_differ(families: list[HarnessFamily]) -> None:
    names: Counter[Any] = Counter()
    for family in families:
        names.update({family.name, *(task.name for task in family.tasks)})
    twice = sorted(name for name, count in names.items() if count > 1)
    if twice:
        raise InputError(
            f"exports: {twice[0]} would be the name of two tasks, since a variant or draw is named "
            "as a subject or style is; name the variant otherwise"
        )
