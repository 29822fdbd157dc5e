"""Change of accuracy with each further transform (MMLU-CF, Table 2 and Figure 7)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.array_types import Floats, Places
from benchwright.core.configuration import parse_configuration
from benchwright.methods.wicked.comparison.compared_responses import (
    ComparedResponses,
    perturbation_of,
)
from benchwright.params.perturbation import PerturbationParams
from benchwright.statistics.proportion import bounded_mean
from benchwright.tables.wicked import RuleAblation


def compare_rules(
    compared_responses: Mapping[str, ComparedResponses],
    perturbation_changes: pd.DataFrame,
    perturbation: PerturbationParams,
) -> pd.DataFrame:
    """Compare accuracy after the first transform, the first two, and so on, on the same items.

    These perturbations (`<name>_1` and so on) exist with `perturbation.cumulative`. Return a
    `RuleAblation` table of the configurations that answered every step, empty if there is nothing
    to compare.
    """
    steps = [f"{perturbation.name}_{k + 1}" for k in range(len(perturbation.transforms))]
    if not (perturbation.cumulative and all(name in compared_responses for name in steps)):
        return RuleAblation.empty()
    by_step = [compared_responses[name] for name in steps]
    shared = set.intersection(*(set(compared.item_ids) for compared in by_step))
    common = tuple(filter(shared.__contains__, by_step[0].item_ids))
    able = set.intersection(*(set(compared.configurations) for compared in by_step))
    if not common or not able:
        return RuleAblation.empty()
    changed = perturbation_changes["condition"].map(perturbation_of)
    rules = {}
    for step in steps:
        transforms = perturbation_changes.loc[changed == step, "transform"].unique()
        # The rule that a step adds is the last of its transforms.
        rules[step] = transforms[-1] if len(transforms) else ""
    aligned = [compared.select_items(common) for compared in by_step]
    rows: list[dict[str, Any]] = []
    for configuration in sorted(able):
        rows += _steps(configuration, rules, aligned)
    return RuleAblation.from_rows(rows)


def _steps(
    configuration: str, rules: Mapping[str, str], aligned: Sequence[ComparedResponses]
) -> Iterator[dict[str, Any]]:
    first = aligned[0]
    key = {
        "configuration": configuration,
        **parse_configuration(configuration)._asdict(),
        "n_items": len(first.item_ids),
    }
    original = first.original[[first.configurations.index(configuration)]]
    yield {
        **key,
        "perturbation": "",
        "step": 0,
        "rule": "none",
        "copies": 0,
        "accuracy": original.mean(axis=1).mean(),
    }
    before = original
    for step, (name, compared) in enumerate(zip(rules, aligned, strict=True), 1):
        copies = compared.perturbed[:, compared.configurations.index(configuration)]
        by_copy = copies.mean(axis=1)
        yield {
            **key,
            "perturbation": name,
            "step": step,
            "rule": rules[name],
            "copies": len(copies),
            "accuracy": by_copy.mean(),
            "accuracy_sd": by_copy.std(ddof=1) if len(copies) > 1 else np.nan,
            **_change("step", copies, before, first.clusters),
            **_change("total", copies, original, first.clusters),
        }
        before = copies


def _change(name: str, after: Floats, before: Floats, clusters: Places) -> dict[str, float]:
    gap = bounded_mean(after.mean(axis=0) - before.mean(axis=0), clusters)
    return {f"{name}_delta": gap.value, f"{name}_low": gap.low, f"{name}_high": gap.high}
