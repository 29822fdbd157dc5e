"""Effect of instruction tuning on the cost of a perturbation (WiCkeD, section 5.1)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.array_types import Floats
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
    rows: list[tuple[Any, ...]] = []
    for name, compared in compared_responses.items():
        change = compared.mean_change()
        for style, members in asking_styles(compared.configurations).items():
            kinds: dict[str, tuple[list[int], list[int]]] = {}
            for row in members:
                model = known.get(parse_configuration(compared.configurations[row]).model)
                if model is not None:
                    both = kinds.setdefault(str(model["family"]), ([], []))
                    both[0 if model["instruct"] else 1].append(row)
            tuned, base = ([row for both in kinds.values() for row in both[i]] for i in (0, 1))
            paired = {family: both for family, both in sorted(kinds.items()) if all(both)}
            for family, both in [("", (tuned, base)), *paired.items()]:
                rows.append((name, style, family, *_compared(*both, change, compared)))
    return ComparisonInstruct.from_rows(rows)


def _compared(
    tuned: list[int], base: list[int], change: Floats, compared: ComparedResponses
) -> tuple[Any, ...]:
    means = [float(change[rows].mean()) if rows else np.nan for rows in (tuned, base)]
    lacking = [kind for kind, rows in (("instruct", tuned), ("base", base)) if not rows]
    if lacking:
        why = f"not enough models: no {' and no '.join(lacking)} model"
        return (len(tuned), len(base), *means, np.nan, np.nan, np.nan, why)
    gap = bounded_mean(change[tuned].mean(axis=0) - change[base].mean(axis=0), compared.clusters)
    return (len(tuned), len(base), *means, *gap)
