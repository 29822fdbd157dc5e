"""Does instruction tuning help against a perturbation? (WiCkeD, section 5.1.)"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.configuration import parse_configuration
from benchwright.methods.wicked.comparison.compared_answers import (
    ComparedAnswers,
    Floats,
    ways_of_asking,
)
from benchwright.statistics.clustered_mean import bounded_mean
from benchwright.tables.wicked import DrawInstruct

FAMILIES = "families"
"""The row of a table about the mean over the families that have both kinds."""


def compare_instruct(
    compared_answers: Mapping[str, ComparedAnswers], models_table: pd.DataFrame
) -> pd.DataFrame:
    """Compare what instruction-tuned and base models lose, all of them and within families.

    A model that the `Models` table does not list takes no part.

    Returns:
        A `DrawInstruct` table; models are compared with those asked in the same way. Intervals are
        over items, for these models; how other models would do they do not say.
    """
    known = {str(row["model"]): row for row in models_table.to_dict("records")}
    rows: list[tuple[Any, ...]] = []
    for name, seen in compared_answers.items():
        change = seen.mean_change()
        for way, members in ways_of_asking(seen.configurations).items():
            kinds = _kinds(seen, members, known)
            tuned, base = ([row for both in kinds.values() for row in both[i]] for i in (0, 1))
            rows.append((name, way, "", *_compared(change, seen, tuned, base)))
            paired = {family: both for family, both in kinds.items() if all(both)}
            for family, (tuned, base) in sorted(paired.items()):
                rows.append((name, way, family, *_compared(change, seen, tuned, base)))
            if len(paired) > 1:
                rows.append((name, way, FAMILIES, *_over_families(change, seen, paired)))
    return DrawInstruct.from_rows(rows)


_Kinds = dict[str, tuple[list[int], list[int]]]


def _kinds(seen: ComparedAnswers, members: list[int], known: Mapping[str, Any]) -> _Kinds:
    """Rows of instruction-tuned and of base models, by family."""
    found: _Kinds = {}
    for row in members:
        model = known.get(parse_configuration(seen.configurations[row]).model)
        if model is not None:
            tuned, base = found.setdefault(str(model["family"]), ([], []))
            (tuned if model["instruct"] else base).append(row)
    return found


def _compared(
    change: Floats, seen: ComparedAnswers, tuned: list[int], base: list[int]
) -> tuple[Any, ...]:
    lost = [float(change[rows].mean()) if rows else np.nan for rows in (tuned, base)]
    lacking = [kind for kind, rows in (("instruct", tuned), ("base", base)) if not rows]
    if lacking:
        why = f"not enough models: no {' and no '.join(lacking)} model"
        return (len(tuned), len(base), *lost, np.nan, np.nan, np.nan, why)
    gap: Floats = change[tuned].mean(axis=0) - change[base].mean(axis=0)
    return (len(tuned), len(base), *lost, *bounded_mean(gap, seen.clusters))


def _over_families(change: Floats, seen: ComparedAnswers, paired: _Kinds) -> tuple[Any, ...]:
    """Each family counts once, however many models it has."""
    tuned, base = (
        np.mean([change[both[kind]].mean(axis=0) for both in paired.values()], axis=0)
        for kind in (0, 1)
    )
    counts = (sum(len(both[kind]) for both in paired.values()) for kind in (0, 1))
    return (
        *counts,
        float(tuned.mean()),
        float(base.mean()),
        *bounded_mean(tuned - base, seen.clusters),
    )
