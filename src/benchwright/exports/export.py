"""Everything that is exported of one run."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd

import benchwright
from benchwright.core.errors import InputError
from benchwright.core.flat_arguments import flat_arguments
from benchwright.datasets.harness_tasks import HarnessExport, HarnessFamily
from benchwright.exports.harness_task import AskedAs, harness_family
from benchwright.exports.instructions import HARNESS, task_instructions
from benchwright.exports.stock_samples import samples_of_benchmark
from benchwright.exports.task_names import slug
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.exports import ExportsParams, ExportStyle
from benchwright.params.scoring import ScoringParams
from benchwright.prompting.rendering import Question, questions

ORIGINAL = "original"


class ExportedRun(NamedTuple):
    """Of which run something is exported, and how.

    Attributes:
        ingestion: the benchmark; its words around questions and its `harness` section.
        scoring: whose demonstrations come first, and how letters are scored.
        exports: what is exported.
        variant: of the run.
        limit: of the run; recorded only.
        seed: of the demonstrations' order.
    """

    ingestion: BenchmarkParams
    scoring: ScoringParams
    exports: ExportsParams
    variant: str
    limit: int | None
    seed: int

    def facts(self) -> dict[str, Any]:
        """What the manifest says of every export: of what, and how it is asked."""
        return {
            "format": 1,
            "benchwright": benchwright.__version__,
            "harness": HARNESS,
            "benchmark": self.ingestion.name,
            "licence": self.ingestion.licence,
            "variant": self.variant,
            "limit": self.limit,
            "seed": self.seed,
            "prompt": self.ingestion.prompt.model_dump(mode="json"),
            "exports": self.exports.model_dump(mode="json"),
            "scoring": self.scoring.model_dump(
                mode="json",
                include={"demonstrations", "demonstration_order", "label_tokens", "generation"},
            ),
        }


class ItemSet(NamedTuple):
    """Items with the demonstrations shown before them.

    Attributes:
        variant: which they are, in names.
        items: what is asked.
        demonstrations: the columns that a question needs.
        facts: more that tasks say of them.
        condition: of a draw, its name.
    """

    variant: str
    items: Sequence[Question]
    demonstrations: pd.DataFrame
    facts: Mapping[str, Any] = MappingProxyType({})
    condition: str | None = None


@flat_arguments
def export_tasks(
    items: pd.DataFrame,
    kept_items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    mirror_root: str,
    run: ExportedRun,
) -> HarnessExport:
    """Write the benchmark and what the variant keeps of it as tasks, side by side.

    Prompts are those of scoring, with the demonstrations of `scoring` in the same order.

    Args:
        items: an `Items` table.
        kept_items: the variant's, likewise.
        demonstrations: the same columns.
        mirror_root: where the items were read from, if anywhere; see `samples_of_benchmark`.
        run: given field by field.

    Raises:
        InputError: no item suits the styles asked for, or two tasks would have one name.
    """
    original = questions(items) if run.exports.original else []
    kept = ItemSet(run.variant, _shared(original, items, kept_items), demonstrations)
    sets = [ItemSet(ORIGINAL, original, demonstrations), kept] if run.exports.original else [kept]
    families = families_of(sets, run)
    check_families(families, run)
    stock = samples_of_benchmark(items, kept_items["item_id"], run.ingestion, mirror_root)
    facts = {
        **run.facts(),
        "stock_samples": {
            "tasks": {task: len(rows) for task, rows in stock.rows.items()},
            "reason_for_none": stock.reason,
        },
    }
    readme = task_instructions(run.ingestion, families, stock)
    return HarnessExport(families, stock.rows, readme, facts)


def _shared(
    known: Sequence[Question], items: pd.DataFrame, kept_items: pd.DataFrame
) -> list[Question]:
    """The questions of `kept_items`; those that are rows of `items` are taken from `known`.

    A million questions take a gigabyte, and most of a benchmark is kept.
    """
    if not known:
        return questions(kept_items)
    place = pd.Index(items["item_id"]).get_indexer(pd.Index(kept_items["item_id"]))
    same = place >= 0
    for name in ("subject", "content_hash", "answer", "answer_text", "explanation"):
        there, here = items[name].to_numpy()[place], kept_items[name].to_numpy()
        same &= (there == here) | (pd.isna(there) & pd.isna(here))
    others = iter(questions(kept_items[~same]))
    return [known[row] if own else next(others) for row, own in zip(place, same, strict=True)]


def families_of(sets: Iterable[ItemSet], run: ExportedRun) -> list[HarnessFamily]:
    """Each set in each style that some of its items suit."""
    styles: tuple[ExportStyle, ...] = tuple(dict.fromkeys((*run.exports.styles, "generate")))
    families = (
        harness_family(
            family_name(run, item_set, item_set.variant, style),
            item_set.items,
            item_set.demonstrations,
            AskedAs(style, run.ingestion.prompt, run.scoring, run.exports, run.seed),
            {"benchmark": run.ingestion.name, "variant": item_set.variant, **item_set.facts},
            item_set.condition,
        )
        for item_set in sets
        for style in styles
    )
    return [family for family in families if family.tasks]


def family_name(run: ExportedRun, item_set: ItemSet, variant: str, style: ExportStyle) -> str:
    """`<prefix>_<benchmark>[_<variant>][_<style>]`; the original has no variant.

    The names of `letters`, and of `generate` where all items of the set are open-ended, carry no
    style.
    """
    with_options = any(question.choices for question in item_set.items)
    plain = "letters" if with_options else "generate"
    parts = [run.exports.prefix, slug(run.ingestion.name)]
    parts += [slug(variant)] if variant != ORIGINAL else []
    parts += [style] if style != plain else []
    return "_".join(parts)


def check_families(families: Sequence[HarnessFamily], run: ExportedRun) -> None:
    """Refuse an export that is empty or has one name twice.

    Raises:
        InputError: there is nothing to ask, or two tasks or groups would have one name.
    """
    if not families:
        raise InputError(
            f"exports.styles: no item of benchmark {run.ingestion.name} can be asked in "
            f"{', '.join(run.exports.styles)}"
        )
    named = ({family.name, *(task.name for task in family.tasks)} for family in families)
    names = Counter(chain.from_iterable(named))
    twice = sorted(name for name, count in names.items() if count > 1)
    if twice:
        raise InputError(
            f"exports: {twice[0]} would be the name of two tasks, since a variant or draw is named "
            "as a subject or style is; name the variant otherwise"
        )
