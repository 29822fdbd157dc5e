"""Effect of instruction tuning on the cost of a perturbation (WiCkeD, section 5.1)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.array_types import Floats, Places
from benchwright.core.configuration import parse_configuration
from benchwright.methods.wicked.comparison.compared_responses import (
    ComparedResponses,
    asking_styles,
)
from benchwright.statistics.proportion import bounded_mean
from benchwright.tables.wicked import ComparisonInstruct


def compare_instruct(
    compared_responses: Mapping[str, ComparedResponses], models_table: pd.DataFrame
) -> pd.DataFrame:
    """Compare the change of accuracy of instruction-tuned and base models.

    Rows are over all models and within families. Models that the `Models` table does not list are
    left out. Return a `ComparisonInstruct` table. Models are compared within their asking style.
    Intervals are over items, for these models; they say nothing about other models.
    """
    known = {str(row["model"]): row for row in models_table.to_dict("records")}
    rows = []
    for name, compared in compared_responses.items():
        change = compared.mean_change()
        clusters = compared.clusters
        for style, members in asking_styles(compared.configurations).items():
            families: dict[str, _Kinds] = {}
            for row in members:
                model = known.get(parse_configuration(compared.configurations[row]).model)
                if model is not None:
                    kinds = families.setdefault(str(model["family"]), _Kinds([], []))
                    (kinds.tuned if model["instruct"] else kinds.base).append(row)
            everyone = _Kinds([], [])
            for kinds in families.values():
                everyone.tuned.extend(kinds.tuned)
                everyone.base.extend(kinds.base)
            key = {"perturbation": name, "asking_style": style}
            rows.append({**key, "family": "", **_difference(everyone, change, clusters)})
            for family, kinds in sorted(families.items()):
                if kinds.tuned and kinds.base:
                    rows.append({**key, "family": family, **_difference(kinds, change, clusters)})
    return ComparisonInstruct.from_rows(rows)


class _Kinds(NamedTuple):
    """Rows of configurations of instruction-tuned and of base models."""

    tuned: list[int]
    base: list[int]


def _difference(kinds: _Kinds, change: Floats, clusters: Places) -> dict[str, Any]:
    tuned = change[kinds.tuned]
    base = change[kinds.base]
    found = {
        "n_instruct": len(tuned),
        "n_base": len(base),
        "delta_instruct": tuned.mean() if len(tuned) else np.nan,
        "delta_base": base.mean() if len(base) else np.nan,
    }
    lacking = []
    if not len(tuned):
        lacking.append("no instruct")
    if not len(base):
        lacking.append("no base")
    if lacking:
        return {**found, "reason": f"not enough models: {' and '.join(lacking)} model"}
    gap = bounded_mean(tuned.mean(axis=0) - base.mean(axis=0), clusters)
    return {
        **found,
        "difference": gap.value,
        "low": gap.low,
        "high": gap.high,
        "reason": gap.reason,
    }
