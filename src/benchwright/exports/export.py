"""Export kept items, perturbed copies or a subset as tasks for lm-evaluation-harness."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.natural_order import in_order
from benchwright.core.version import VERSION
from benchwright.datasets.harness_tasks import HarnessExport, HarnessFamily
from benchwright.exports.harness_task import (
    AddedColumns,
    AskedAs,
    group_config,
    harness_family,
    slug,
)
from benchwright.exports.instructions import HARNESS, render
from benchwright.exports.subset_manifest import (
    SubsetItem,
    SubsetManifest,
    drawn,
    hashed,
    ids_hash,
)
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.exports import ExportsParams, ExportStyle
from benchwright.params.perturbation import PerturbationParams
from benchwright.params.sampling import SamplingParams
from benchwright.params.scoring import ScoringParams
from benchwright.scoring.rendering import Question, questions

ORIGINAL = "original"
_PREFIX = "benchwright"  # of task names, so that they differ from stock tasks


class ExportedRun(NamedTuple):
    """The exported run and its settings."""

    ingestion: BenchmarkParams
    scoring: ScoringParams
    exports: ExportsParams
    variant: str
    limit: int | None
    seed: int

    def facts(self) -> dict[str, Any]:
        """Return what the manifest of every export records."""
        return {
            "benchmark": self.ingestion.name,
            "licence": self.ingestion.licence,
            "variant": self.variant,
            "limit": self.limit,
            "seed": self.seed,
        }


class ItemSet(NamedTuple):
    """Items with their demonstrations."""

    variant: str  # their name in tasks
    items: Sequence[Question]
    demonstrations: pd.DataFrame
    facts: Mapping[str, Any] = MappingProxyType({})  # further ones, for tasks
    added: AddedColumns = AddedColumns()


def _folder(
    template: str,
    run: ExportedRun,
    families: Sequence[HarnessFamily],
    facts: Mapping[str, Any],
    **shown: Any,
) -> HarnessExport:
    """Return the folder of these families, or raise InputError if no item fits the styles."""
    if not families:
        raise InputError(
            f"exports.styles: no item of benchmark {run.ingestion.name} can be asked in "
            f"{', '.join(run.exports.styles)}"
        )
    told = {"benchmark": run.ingestion, "families": families}
    readme = render(template, **{**told, **shown})
    asked = ("demonstrations", "label_tokens", "generation")
    every = {
        "format": 1,
        "benchwright": VERSION,
        "harness": HARNESS,
        **run.facts(),
        "prompt": run.ingestion.prompt.model_dump(mode="json"),
        "exports": run.exports.model_dump(mode="json"),
        "scoring": run.scoring.model_dump(mode="json", include=set(asked)),
    }
    reader = files("benchwright.exports").joinpath("harness_rows.py").read_bytes()
    return HarnessExport(list(families), readme, facts={**every, **facts}, reader=reader)


def export_tasks(
    items: pd.DataFrame,
    kept_items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    exported_run: ExportedRun,
) -> HarnessExport:
    """Write the benchmark and the kept items of the variant as tasks.

    Prompts and demonstrations are those of scoring. `kept_items` have the columns of `items`, and
    `tags`.

    Raises:
        InputError: no item fits the styles.
    """
    run = exported_run
    original = questions(items)
    tags = dict(zip(kept_items["item_id"], kept_items["tags"], strict=True))
    kept = _shared(original, items, kept_items)
    sets = [
        ItemSet(ORIGINAL, original, demonstrations),
        ItemSet(run.variant, kept, demonstrations, added=AddedColumns(columns={"tags": tags})),
    ]
    return _folder("tasks.md", run, families_of(sets, run), {})


def _shared(known: list[Question], items: pd.DataFrame, kept_items: pd.DataFrame) -> list[Question]:
    """Return the questions of `kept_items`, reusing `known` ones for rows of `items`.

    A million questions take a gigabyte, and most of a benchmark is kept.
    """
    places = pd.Index(items["item_id"]).get_indexer(pd.Index(kept_items["item_id"]))
    same = places >= 0
    for name in ("subject", "content_hash", "answer", "answer_text", "explanation"):
        there = items[name].to_numpy()[places]
        here = kept_items[name].to_numpy()
        same &= (there == here) | (pd.isna(there) & pd.isna(here))
    changed = iter(questions(kept_items[~same]))
    return [known[at] if equal else next(changed) for at, equal in zip(places, same, strict=True)]


def families_of(sets: Iterable[ItemSet], run: ExportedRun) -> list[HarnessFamily]:
    """Return a family for each set and each style that fits some of its items."""
    styles: tuple[ExportStyle, ...] = tuple(dict.fromkeys((*run.exports.styles, "generate")))
    families = []
    for item_set, style in product(sets, styles):
        family = harness_family(
            family_name(run, item_set, item_set.variant, style),
            item_set.items,
            item_set.demonstrations,
            asked=AskedAs(style, run.ingestion.prompt, run.scoring, run.exports, seed=run.seed),
            facts={"benchmark": run.ingestion.name, "variant": item_set.variant, **item_set.facts},
            added=item_set.added,
        )
        if family.tasks:
            families.append(family)
    return families


def family_name(run: ExportedRun, item_set: ItemSet, variant: str, style: ExportStyle) -> str:
    """Return `benchwright_<benchmark>[_<variant>][_<style>]`; the original has no variant.

    `letters`, and `generate` if all items of the set are open-ended, add no style.
    """
    parts = [_PREFIX, slug(run.ingestion.name)]
    if variant != ORIGINAL:
        parts.append(slug(variant))
    with_options = any(question.choices for question in item_set.items)
    if style != ("letters" if with_options else "generate"):
        parts.append(style)
    return "_".join(parts)


def export_perturbed(
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    perturbed_items: pd.DataFrame,
    perturbation: PerturbationParams,
    exported_run: ExportedRun,
) -> HarnessExport:
    """Write the benchmark and its perturbed copies as tasks, and a group over the copies.

    Prompts are those of scoring; a copy has its own demonstrations. Rows of a copy carry its name
    (`condition`), by which `import_responses` recognises the answers. `perturbation` is recorded
    only.

    Returns:
        For each style the original, the copies, and a group per perturbation with the mean score
        of its copies.

    Raises:
        InputError: no item fits the styles.
    """
    run = exported_run
    conditions = in_order({str(name) for name in perturbed_items["condition"]})
    perturbed = {name: _item_set(name, perturbed_items) for name in conditions}
    originals = families_of([ItemSet(ORIGINAL, questions(items), demonstrations)], run)
    of_copies = families_of(perturbed.values(), run)
    groups = list(_groups(of_copies, perturbed, run))
    # The parameters that make the same copies.
    params = {"benchmark": run.ingestion.name, "variant": run.variant, "limit": run.limit}
    params |= {"seed": run.seed or None}
    style = originals[0].facts["style"] if originals else None
    return _folder(
        "perturbed.md",
        run,
        [*originals, *groups, *of_copies],
        {"perturbation": perturbation.model_dump(mode="json")},
        example=[*originals[:1], *(group for group in groups if group.facts["style"] == style)],
        params=",".join(f"{name}={value}" for name, value in params.items() if value is not None),
    )


def _item_set(condition: str, perturbed_items: pd.DataFrame) -> ItemSet:
    perturbed = perturbed_items[perturbed_items["condition"] == condition]
    name, _, copy = condition.rpartition("-")
    return ItemSet(
        condition,
        questions(perturbed[perturbed["role"] == "item"]),
        perturbed[perturbed["role"] == "demonstration"],
        {"condition": condition, "perturbation": name or condition, "copy": copy if name else ""},
        AddedColumns({"condition": condition}),
    )


def _groups(
    families: Sequence[HarnessFamily], perturbed: Mapping[str, ItemSet], run: ExportedRun
) -> Iterator[HarnessFamily]:
    """Yield a group for each perturbation and style, whose score is the mean over the copies.

    All copies have the same number of items, so the mean over questions is the mean over copies.
    """
    grouped: dict[tuple[str, ExportStyle], list[HarnessFamily]] = {}
    for family in families:
        grouped.setdefault((family.facts["perturbation"], family.facts["style"]), []).append(family)
    for (perturbation, style), members in grouped.items():
        first = members[0].facts
        tasks = [task for family in members for task in family.tasks]
        facts = {
            "benchmark": run.ingestion.name,
            "variant": f"{perturbation}, mean of {len(members)}",
            "perturbation": perturbation,
            "copies": [family.facts["copy"] for family in members],
            "style": style,
            "n_items": first["n_items"],
            "n_tasks": len(tasks),
            "max_num_fewshot": min(family.facts["max_num_fewshot"] for family in members),
        }
        names = [family.name for family in members]
        name = family_name(run, perturbed[first["condition"]], perturbation, style)
        yield HarnessFamily(name, group_config(names, tasks, facts), [], facts)


CHOSEN, CHOSEN_BY_SUBJECT, RANDOM = "chosen", "chosen_by_subject", "random"
ALL_MODELS_SPLIT = -1  # the split of `SamplerChoice` in which all models choose
EQUAL = "all items have equal weights: the accuracy of the harness is the score of the subset"
WEIGHTED = (
    "the score is the weighted mean of the answers; the harness prints the plain mean, which "
    "differs: run `benchwright estimate` on the log"
)


def export_subset(
    items: pd.DataFrame,
    chosen_subset: pd.DataFrame,
    chosen_subset_facts: dict[str, Any],
    sampler_choice: pd.DataFrame,
    demonstrations: pd.DataFrame,
    sampling: SamplingParams,
    exported_run: ExportedRun,
) -> HarnessExport:
    """Write the chosen items as tasks, with their weights.

    Rows carry `weight`, but the harness computes plain means. The manifest describes the score and
    lists items and weights for `benchwright estimate`. `sampler_choice` resolves
    `sampling.export.sampler: chosen`.

    Raises:
        InputError: an id is not in the benchmark, or no item fits the styles.
    """
    run = exported_run
    sampler = sampler_of(sampling, sampler_choice)
    pool = drawn_from(items, chosen_subset_facts)
    subset = subset_manifest(
        pool, chosen_subset, sampler, seed=sampling.export.seed, benchmark=run.ingestion.name
    )
    rows = items.set_index("item_id", drop=False).loc[list(subset.item_ids)]
    added = AddedColumns(columns={"weight": {item.item_id: item.weight for item in subset.items}})
    name = f"{sampler}_{len(subset.items)}"
    families = families_of([ItemSet(name, questions(rows), demonstrations, added=added)], run)
    facts = {"subset": subset.model_dump(mode="json")}
    return _folder("subset.md", run, families, facts, subset=subset)


def drawn_from(items: pd.DataFrame, chosen_subset_facts: dict[str, Any]) -> pd.DataFrame:
    """Return the items that the exported subset was drawn from, of which it speaks."""
    ids = chosen_subset_facts["drawn_from"]
    return items[items["item_id"].isin(ids)] if ids else items


def subset_manifest(
    items: pd.DataFrame,
    chosen_subset: pd.DataFrame,
    sampler: str,
    seed: int,
    benchmark: str,
) -> SubsetManifest:
    """Return the manifest of a subset of the items that it was drawn from.

    Raises:
        InputError: an id is not among the items.
    """
    hashes = dict(zip(items["item_id"].astype(str), items["content_hash"], strict=True))
    unknown = [name for name in chosen_subset["item_id"] if name not in hashes]
    if unknown:
        raise InputError(f"chosen item {unknown[0]} is not among the benchmark's items")
    weights = chosen_subset["weight"].to_numpy(np.float64)
    known = chosen_subset["inclusion"].notna().all()
    chosen = tuple(
        SubsetItem(
            item_id=row["item_id"],
            weight=row["weight"],
            content_hash=hashes[row["item_id"]],
            inclusion=row["inclusion"] if known else None,
        )
        for row in chosen_subset.to_dict("records")
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
        draws_hash=ids_hash(drawn(chosen)),
        equal_weights=equal,
        scoring=EQUAL if equal else WEIGHTED,
        items=chosen,
    )


def sampler_of(sampling: SamplingParams, sampler_choice: pd.DataFrame) -> str:
    """Return the sampler that drew the subset."""
    if sampling.export.sampler != CHOSEN:
        return sampling.export.sampler
    winner = sampler_choice.loc[sampler_choice["split"] == ALL_MODELS_SPLIT, "winner"]
    return str(winner.iloc[0]) if len(winner) and winner.iloc[0] else RANDOM
