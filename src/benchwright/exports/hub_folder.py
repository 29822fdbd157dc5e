"""Export kept items, perturbed copies or a subset as a dataset folder for the Hugging Face Hub."""

import json
import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from benchwright.core.natural_order import in_order
from benchwright.core.version import VERSION
from benchwright.datasets.export_folder import README, FolderContent, Pieces
from benchwright.exports.export import ExportedRun
from benchwright.exports.inspect_tasks import (
    CARRIED,
    MODULE,
    inspect_lines,
    inspect_module,
    task_name,
)
from benchwright.exports.instructions import render
from benchwright.params.perturbation import PerturbationParams

_COLUMNS = (
    *("item_id", "subject", "question", "choices", "answer", "answer_text", "explanation"),
    *("tags", "weight", "condition", "source_id", "domain", "url", "content_hash"),
)
_HUB_LICENCES = {
    *("apache-2.0", "mit", "odc-by", "cc0-1.0", "cdla-permissive-2.0"),
    *(
        f"cc-by{kind}-{version}"
        for kind in ("", "-sa", "-nc", "-nc-sa")
        for version in ("3.0", "4.0")
    ),
}


class _Configuration(NamedTuple):
    name: str  # of its files, and what `datasets.load_dataset` calls it
    rows: pd.DataFrame
    content: str  # for the card


def publish_kept_items(
    items: pd.DataFrame,
    kept_items: pd.DataFrame,
    rule_coverage: pd.DataFrame,
    exported_run: ExportedRun,
) -> FolderContent:
    """Write the kept items with a card that says what each rule removed, and why."""
    content = f"{len(kept_items):,} of {len(items):,} items"
    kept = _Configuration(exported_run.variant, kept_items, content)
    rules = rule_coverage[rule_coverage["removed"] > 0].sort_values("removed", ascending=False)
    return _folder([kept], exported_run, n_items=len(items), rules=rules.to_dict("records"))


def publish_perturbed_copies(
    perturbed_items: pd.DataFrame, perturbation: PerturbationParams, exported_run: ExportedRun
) -> FolderContent:
    """Write each perturbed copy as a configuration of one dataset, without demonstrations."""
    asked = perturbed_items[perturbed_items["role"] == "item"]
    copies = dict(iter(asked.groupby("condition")))
    configurations = [
        _Configuration(name, copies[name], f"{len(copies[name]):,} items")
        for name in in_order(asked["condition"].unique())
    ]
    settings = json.dumps(perturbation.model_dump(mode="json"), indent=2, ensure_ascii=False)
    return _folder(configurations, exported_run, perturbation=settings)


def publish_subset(
    items: pd.DataFrame,
    chosen_subset: pd.DataFrame,
    chosen_subset_facts: dict[str, str],
    exported_run: ExportedRun,
) -> FolderContent:
    """Write the chosen subset with its weights.

    `chosen_subset_facts` has `told_apart`, a sentence for the card, or "".
    """
    rows = chosen_subset[["item_id", "weight"]].merge(items, on="item_id", validate="one_to_one")
    subset = _Configuration("subset", rows, f"{len(rows):,} of {len(items):,} items, with weights")
    told_apart = chosen_subset_facts["told_apart"]
    return _folder([subset], exported_run, n_items=len(items), told_apart=told_apart)


def _folder(
    configurations: Sequence[_Configuration], run: ExportedRun, **facts: Any
) -> FolderContent:
    hashes = [hash_ for each in configurations for hash_ in each.rows["content_hash"]]
    canary = f"{run.ingestion.name} canary {uuid.uuid5(uuid.NAMESPACE_OID, ''.join(hashes))}"
    files: dict[str, Pieces] = {}
    for name, rows, _ in configurations:
        columns = [name for name in _COLUMNS if name in rows and not rows[name].isna().all()]
        table = rows[columns].reset_index(drop=True).assign(canary=canary)
        files[f"{name}.parquet"] = [table.to_parquet(index=False)]
        files[f"{name}.jsonl"] = inspect_lines(rows)
    first = configurations[0]
    title = f"{run.ingestion.title} · {run.variant}"
    open_ended = not any(len(each.rows["choices"].iloc[0]) for each in configurations)
    titles = {each.name: f"{title}: {each.content}" for each in configurations}
    files[MODULE] = [inspect_module(titles, open_ended=open_ended)]
    carried = [name for name in CARRIED if name in first.rows and not first.rows[name].isna().all()]
    evaluation = render(
        "eval.yaml.txt",
        title=title,
        configurations=configurations,
        columns=carried,
        open_ended=open_ended,
    )
    files["eval.yaml"] = [evaluation.encode()]
    values = {"rules": None, "n_items": None, "perturbation": None, "told_apart": "", **facts}
    card = render(
        "hub_card.md",
        benchmark=run.ingestion,
        run=run,
        configurations=configurations,
        licence=card_licence(run.ingestion.licence),
        size=_size_category(sum(len(each.rows) for each in configurations)),
        canary=canary,
        version=VERSION,
        task=task_name(first.name),
        weighted=any("weight" in each.rows for each in configurations),
        **values,
    )
    manifest = {
        "format": 1,
        "benchwright": VERSION,
        **run.facts(),
        "canary": canary,
        "items": {each.name: len(each.rows) for each in configurations},
    }
    return FolderContent({README: [card.encode()], **files}, manifest)


def card_licence(licence: str) -> str:
    """Return the lines of a card's metadata that name a licence, with the Hub's own identifier."""
    name = licence.lower()
    if name in _HUB_LICENCES:
        return f"license: {name}"
    return f"license: other\nlicense_name: {json.dumps(name)}"


def _size_category(count: int) -> str:
    bounds = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K", 1_000_000: "100K<n<1M"}
    return next((name for bound, name in bounds.items() if count < bound), "1M<n<10M")
