"""Every draw of a perturbation as tasks for other harnesses, beside the original."""

from collections.abc import Iterator, Sequence

import pandas as pd

from benchwright.core.natural_order import natural_key
from benchwright.datasets.harness_tasks import HarnessExport, HarnessFamily
from benchwright.exports.draw_instructions import draw_instructions
from benchwright.exports.export import (
    ORIGINAL,
    ItemSet,
    check_families,
    facts_of_export,
    families_of,
    family_name,
)
from benchwright.exports.harness_task import group_config
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.exports import ExportsParams, ExportStyle
from benchwright.params.perturbation import PerturbationParams
from benchwright.params.scoring import ScoringParams
from benchwright.prompting.rendering import questions


def export_draws(
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    draws: pd.DataFrame,
    ingestion: BenchmarkParams,
    scoring: ScoringParams,
    exports: ExportsParams,
    perturbation: PerturbationParams,
    variant: str,
    limit: int | None,
    seed: int,
) -> HarnessExport:
    """Write the benchmark and every draw of it as tasks, and a group over the draws.

    Prompts are those of scoring; a draw is shown with its own demonstrations. Rows of draws carry
    the draw's name (`condition`), by which `import_answers` knows an answer to them.

    Args:
        items: an `Items` table.
        demonstrations: the same columns.
        draws: a `Draws` table.
        ingestion: the benchmark; its words around questions.
        scoring: whose demonstrations come first, and how letters are scored.
        exports: what is exported.
        perturbation: how the draws were made; recorded only.
        variant: of the run; recorded only.
        limit: of the run; recorded only.
        seed: of the demonstrations' order and of the draws.

    Returns:
        Per style the original, each draw, and a group per perturbation whose score is the mean
        over its draws.

    Raises:
        InputError: no item suits the styles asked for, or two tasks would have one name.
    """
    original = ItemSet(ORIGINAL, questions(items), demonstrations)
    drawn = [_item_set(name, draws) for name in conditions_of(draws)]
    families = list(families_of(original, ingestion, scoring, exports, seed))
    of_draws = [
        family
        for item_set in drawn
        for family in families_of(item_set, ingestion, scoring, exports, seed)
    ]
    groups = list(_groups(of_draws, drawn, ingestion, exports))
    check_families([*families, *of_draws, *groups], ingestion, exports)
    facts = {
        **facts_of_export(ingestion, scoring, exports, variant, limit, seed),
        "perturbation": perturbation.model_dump(mode="json"),
    }
    readme = draw_instructions(ingestion, families, of_draws, groups, variant, limit, seed)
    return HarnessExport([*families, *groups, *of_draws], {}, readme, facts)


def conditions_of(draws: pd.DataFrame) -> list[str]:
    """The names of the draws in their natural order: `wicked-2` before `wicked-10`."""
    return sorted({str(name) for name in draws["condition"]}, key=natural_key)


def perturbation_and_draw(condition: str) -> tuple[str, str]:
    """What a draw is of and its number: `wicked`, `3` of `wicked-3`."""
    name, _, draw = condition.rpartition("-")
    return (name, draw) if name else (condition, "")


def _item_set(condition: str, draws: pd.DataFrame) -> ItemSet:
    own = draws[draws["condition"] == condition]
    name, draw = perturbation_and_draw(condition)
    return ItemSet(
        condition,
        questions(own[own["role"] == "item"]),
        own[own["role"] == "demonstration"],
        {"condition": condition, "perturbation": name, "draw": draw},
        condition,
    )


def _groups(
    families: Sequence[HarnessFamily],
    drawn: Sequence[ItemSet],
    ingestion: BenchmarkParams,
    exports: ExportsParams,
) -> Iterator[HarnessFamily]:
    """A group for each perturbation and style, whose score is the mean over the draws.

    All draws have the same number of items, so the mean over questions is the mean over draws.
    """
    own: dict[tuple[str, ExportStyle], list[HarnessFamily]] = {}
    for family in families:
        own.setdefault((family.facts["perturbation"], family.facts["style"]), []).append(family)
    sets = {item_set.variant: item_set for item_set in drawn}
    for (perturbation, style), members in own.items():
        first = members[0].facts
        tasks = [task for family in members for task in family.tasks]
        facts = {
            "benchmark": ingestion.name,
            "variant": f"{perturbation}, mean of {len(members)}",
            "perturbation": perturbation,
            "draws": [family.facts["draw"] for family in members],
            "style": style,
            "n_items": first["n_items"],
            "n_tasks": len(tasks),
            "max_num_fewshot": min(family.facts["max_num_fewshot"] for family in members),
        }
        names = [family.name for family in members]
        name = family_name(
            exports.prefix, ingestion.name, sets[first["condition"]], perturbation, style
        )
        yield HarnessFamily(name, group_config(names, tasks, facts), [], facts)
