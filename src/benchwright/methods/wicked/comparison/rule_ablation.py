"""What does each further rule cost? (MMLU-CF, Table 2 and Figure 7.)"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.configuration import parse_configuration
from benchwright.methods.wicked.comparison.compared_answers import (
    ComparedAnswers,
    Floats,
    perturbation_of,
)
from benchwright.params.perturbation import PerturbationParams
from benchwright.statistics.clustered_mean import bounded_mean
from benchwright.tables.wicked import RuleAblation


def compare_rules(
    compared_answers: Mapping[str, ComparedAnswers],
    perturbation_changes: pd.DataFrame,
    perturbation: PerturbationParams,
) -> pd.DataFrame:
    """Compare the first rule alone, the first two, and so on, on the same items.

    `perturbation.cumulative` says whether there are such perturbations, `<name>_1` and so on.

    Returns:
        A `RuleAblation` table of the configurations that answered every step; empty where there
        is nothing to compare.
    """
    steps = steps_of(compared_answers, perturbation)
    if not steps:
        return RuleAblation.empty()
    first = compared_answers[steps[0]]
    shared = set.intersection(*(set(compared_answers[name].item_ids) for name in steps))
    common = tuple(item for item in first.item_ids if item in shared)
    able = set.intersection(*(set(compared_answers[name].configurations) for name in steps))
    if not common or not able:
        return RuleAblation.empty()
    rules = _rules(perturbation_changes, steps)
    aligned = [compared_answers[name].select_items(common) for name in steps]
    rows: list[dict[str, Any]] = []
    for configuration in sorted(able):
        asked = parse_configuration(configuration)
        places = [seen.configurations.index(configuration) for seen in aligned]
        states = [aligned[0].original[places[:1]]]
        states += [seen.drawn[:, row] for seen, row in zip(aligned, places, strict=True)]
        for step, answers in enumerate(states):
            by_draw = answers.mean(axis=1)
            rows.append(
                {
                    "perturbation": steps[step - 1] if step else "",
                    "configuration": configuration,
                    "model": asked.model,
                    "style": asked.style,
                    "shots": asked.shots,
                    "step": step,
                    "rule": rules[step - 1] if step else "none",
                    "n_items": len(common),
                    "draws": len(answers) if step else 0,
                    "accuracy": float(by_draw.mean()),
                    "accuracy_sd": float(by_draw.std(ddof=1)) if len(answers) > 1 else np.nan,
                    **_change("step", answers, states[step - 1] if step else None, aligned[0]),
                    **_change("total", answers, states[0] if step else None, aligned[0]),
                }
            )
    return RuleAblation.from_rows(rows)


def steps_of(
    compared_answers: Mapping[str, ComparedAnswers], perturbation: PerturbationParams
) -> list[str]:
    """The perturbations with one rule, two rules, …; none where the steps were not drawn."""
    if not perturbation.cumulative:
        return []
    names = [f"{perturbation.name}_{k + 1}" for k in range(len(perturbation.transforms))]
    return names if all(name in compared_answers for name in names) else []


def _rules(changes: pd.DataFrame, steps: list[str]) -> list[str]:
    """The rule that each step adds: the last of its transforms."""
    names = changes["condition"].map(perturbation_of)
    rules = []
    for step in steps:
        own = changes.loc[names == step, "transform"].drop_duplicates().tolist()
        rules.append(str(own[-1]) if own else "")
    return rules


def _change(
    name: str, after: Floats, before: Floats | None, seen: ComparedAnswers
) -> dict[str, float]:
    keys = (f"{name}_delta", f"{name}_low", f"{name}_high")
    if before is None:
        return dict.fromkeys(keys, np.nan)
    gap = after.mean(axis=0) - before.mean(axis=0)
    return dict(zip(keys, bounded_mean(gap, seen.clusters)[:3], strict=True))
