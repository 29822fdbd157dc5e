"""Change of accuracy with each further transform (MMLU-CF, Table 2 and Figure 7)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.array_types import Floats
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
    common = tuple(item for item in by_step[0].item_ids if item in shared)
    able = set.intersection(*(set(compared.configurations) for compared in by_step))
    if not common or not able:
        return RuleAblation.empty()
    changed = perturbation_changes["condition"].map(perturbation_of)
    # The rule that a step adds is the last of its transforms.
    added = [perturbation_changes.loc[changed == step, "transform"].unique() for step in steps]
    rules = [str(transforms[-1]) if len(transforms) else "" for transforms in added]
    aligned = [compared.select_items(common) for compared in by_step]
    rows: list[dict[str, Any]] = []
    for configuration in sorted(able):
        places = [compared.configurations.index(configuration) for compared in aligned]
        states = [aligned[0].original[places[:1]]]
        states += [step.perturbed[:, row] for step, row in zip(aligned, places, strict=True)]
        for step, responses in enumerate(states):
            by_copy = responses.mean(axis=1)
            rows.append(
                {
                    "perturbation": steps[step - 1] if step else "",
                    "configuration": configuration,
                    **parse_configuration(configuration)._asdict(),
                    "step": step,
                    "rule": rules[step - 1] if step else "none",
                    "n_items": len(common),
                    "copies": len(responses) if step else 0,
                    "accuracy": float(by_copy.mean()),
                    "accuracy_sd": float(by_copy.std(ddof=1)) if len(responses) > 1 else np.nan,
                    **_change("step", responses, states[step - 1] if step else None, aligned[0]),
                    **_change("total", responses, states[0] if step else None, aligned[0]),
                }
            )
    return RuleAblation.from_rows(rows)


def _change(
    name: str, after: Floats, before: Floats | None, compared: ComparedResponses
) -> dict[str, float]:
    keys = (f"{name}_delta", f"{name}_low", f"{name}_high")
    if before is None:
        return dict.fromkeys(keys, np.nan)
    gap = after.mean(axis=0) - before.mean(axis=0)
    return dict(zip(keys, bounded_mean(gap, compared.clusters)[:3], strict=True))
