"""Every draw of a perturbation as tasks for other harnesses, beside the original."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from benchwright.core.flat_arguments import flat_arguments
from benchwright.core.natural_order import natural_key
from benchwright.datasets.harness_tasks import HarnessExport, HarnessFamily
from benchwright.exports.export import (
    ORIGINAL,
    ExportedRun,
    ItemSet,
    check_families,
    families_of,
    family_name,
)
from benchwright.exports.harness_task import group_config
from benchwright.exports.instructions import draw_instructions
from benchwright.params.exports import ExportStyle
from benchwright.params.perturbation import PerturbationParams
from benchwright.prompting.rendering import questions


@flat_arguments
def export_draws(
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    draws: pd.DataFrame,
    perturbation: PerturbationParams,
    run: ExportedRun,
) -> HarnessExport:
    """Write the benchmark and every draw of it as tasks, and a group over the draws.

    Prompts are those of scoring; a draw is shown with its own demonstrations. Rows of draws carry
    the draw's name (`condition`), by which `import_answers` knows an answer to them.

    Args:
        items: an `Items` table.
        demonstrations: the same columns.
        draws: a `Draws` table.
        perturbation: how the draws were made; recorded only.
        run: given field by field; its seed is also that of the draws.

    Returns:
        Per style the original, each draw, and a group per perturbation whose score is the mean
        over its draws.

    Raises:
        InputError: no item suits the styles asked for, or two tasks would have one name.
    """
    conditions = sorted({str(name) for name in draws["condition"]}, key=natural_key)
    drawn = {name: _item_set(name, draws) for name in conditions}
    originals = families_of([ItemSet(ORIGINAL, questions(items), demonstrations)], run)
    of_draws = families_of(drawn.values(), run)
    groups = list(_groups(of_draws, drawn, run))
    check_families([*originals, *of_draws, *groups], run)
    facts = {**run.facts(), "perturbation": perturbation.model_dump(mode="json")}
    same_draws = {
        "benchmark": run.ingestion.name,
        "variant": run.variant,
        "limit": run.limit,
        "seed": run.seed or None,
    }
    readme = draw_instructions(run.ingestion, originals, of_draws, groups, same_draws)
    return HarnessExport([*originals, *groups, *of_draws], {}, readme, facts)


def _item_set(condition: str, draws: pd.DataFrame) -> ItemSet:
    own = draws[draws["condition"] == condition]
    name, _, draw = condition.rpartition("-")
    return ItemSet(
        condition,
        questions(own[own["role"] == "item"]),
        own[own["role"] == "demonstration"],
        {"condition": condition, "perturbation": name or condition, "draw": draw if name else ""},
        condition,
    )


def _groups(
    families: Sequence[HarnessFamily], drawn: Mapping[str, ItemSet], run: ExportedRun
) -> Iterator[HarnessFamily]:
    """A group for each perturbation and style, whose score is the mean over the draws.

    All draws have the same number of items, so the mean over questions is the mean over draws.
    """
    own: dict[tuple[str, ExportStyle], list[HarnessFamily]] = {}
    for family in families:
        own.setdefault((family.facts["perturbation"], family.facts["style"]), []).append(family)
    for (perturbation, style), members in own.items():
        first = members[0].facts
        tasks = [task for family in members for task in family.tasks]
        facts = {
            "benchmark": run.ingestion.name,
            "variant": f"{perturbation}, mean of {len(members)}",
            "perturbation": perturbation,
            "draws": [family.facts["draw"] for family in members],
            "style": style,
            "n_items": first["n_items"],
            "n_tasks": len(tasks),
            "max_num_fewshot": min(family.facts["max_num_fewshot"] for family in members),
        }
        names = [family.name for family in members]
        name = family_name(run, drawn[first["condition"]], perturbation, style)
        yield HarnessFamily(name, group_config(names, tasks, facts), [], facts)
