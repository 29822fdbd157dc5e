"""How much of a benchmark a perturbation reaches, and what the prompts show of it."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchwright.methods.wicked.comparison.compared_answers import perturbation_of
from benchwright.tables.wicked import DrawCoverage, DrawDemonstrations, DrawPrompts

ALTERED = "altered"


def count_changes(perturbation_changes: pd.DataFrame) -> pd.DataFrame:
    """Count what each transform altered and what it copied, by reason, over all draws.

    Returns:
        A `DrawCoverage` table: items before demonstrations, transforms in their order, what was
        altered first, then the reasons from the most frequent on.
    """
    own = perturbation_changes.assign(
        perturbation=perturbation_changes["condition"].map(perturbation_of),
        outcome=perturbation_changes["reason"].where(~perturbation_changes["altered"], ALTERED),
    )
    rows: list[tuple[Any, ...]] = []
    for (perturbation, role), group in own.groupby(["perturbation", "role"], sort=False):
        for transform, changes in group.groupby("transform", sort=False):
            total = len(changes)
            for outcome, part in sorted(changes.groupby("outcome"), key=_outcome_order):
                share, gold = len(part) / total, int(part["gold_removed"].sum())
                different = part["item_id"].nunique()
                rows.append(
                    (perturbation, role, transform, outcome, len(part), different, share, gold)
                )
    return DrawCoverage.from_rows(rows)


def _outcome_order(outcome: tuple[Any, pd.DataFrame]) -> tuple[bool, int, str]:
    name, rows = outcome
    return name != ALTERED, -len(rows), str(name)


def count_demonstrations(
    prompts: pd.DataFrame, perturbation_changes: pd.DataFrame, draws: pd.DataFrame
) -> pd.DataFrame:
    """Count the prompts with a demonstration whose right answer is "none" (WiCkeD, section 4.2).

    Five demonstrations are shown there so that most prompts have one: 1 − (1 − 1/K)⁵, 76% at K = 4.

    Returns:
        A `DrawDemonstrations` table, a row per configuration and draw.
    """
    conditions = draws["condition"].unique()
    own = prompts[prompts["condition"].isin(conditions)]
    changes = perturbation_changes[perturbation_changes["role"] == "demonstration"]
    replaced = changes[changes["removed_index"] >= 0]
    changed = replaced.groupby(["condition", "item_id"])["gold_removed"].any().to_dict()
    options = {
        (condition, item): len(choices)
        for condition, item, choices in draws.loc[
            draws["role"] == "demonstration", ["condition", "item_id", "choices"]
        ].itertuples(index=False, name=None)
    }
    rows: list[tuple[Any, ...]] = []
    for (configuration, condition), group in own.groupby(["configuration", "condition"]):
        sets = group["demonstrations"].astype(str).value_counts()
        sets = sets[sets > 0]
        shown = sets.drop("[]", errors="ignore")
        told = [_expected(json.loads(ids), str(condition), changed, options) for ids in shown.index]
        n = int(shown.sum())
        with_none = int(sum(k for k, one in zip(shown, told, strict=True) if one[0]))
        weights = shown.to_numpy(dtype=np.float64)
        means = [
            float(np.average([one[place] for one in told], weights=weights)) if n else np.nan
            for place in (1, 2)
        ]
        share = with_none / n if n else np.nan
        rows.append((configuration, condition, len(group), n, len(shown), with_none, share, *means))
    return DrawDemonstrations.from_rows(rows)


def count_prompts(prompts: pd.DataFrame, draws: pd.DataFrame) -> pd.DataFrame:
    """Count the prompts of the items and their draws that are the same text, and so asked once."""
    wanted = {"question", *draws["condition"].unique()}
    own = prompts[prompts["condition"].isin(wanted)]
    # One prompt serves all configurations of a model that score it alike.
    rows = [
        (model, len(group), group["prompt_id"].nunique(), len(group) - group["prompt_id"].nunique())
        for model, group in own.groupby("model")
    ]
    return DrawPrompts.from_rows(rows)


def _expected(
    ids: list[str],
    condition: str,
    changed: Mapping[Any, bool],
    options: Mapping[tuple[str, str], int],
) -> tuple[bool, float, float]:
    """Whether a set has one without its right option, and the chance of that.

    `changed` are the demonstrations of which an option was replaced, with whether it was the right
    one.
    """
    some, none_expected, none_at_all = False, 1.0, 1.0
    for item in ids:
        replaced = (condition, item) in changed
        some |= bool(replaced and changed[condition, item])
        k = options.get((condition, item), 0)
        chance = 1 / k if k else 0.0
        none_expected *= 1 - chance * replaced
        none_at_all *= 1 - chance
    return some, 1 - none_expected, 1 - none_at_all
