"""Does writing the answer out, step by step, make up for the perturbation? (WiCkeD, Table 2.)"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.configuration import STYLES, parse_configuration
from benchwright.methods.wicked.comparison.compared_answers import Bools, ComparedAnswers, Floats
from benchwright.statistics.clustered_mean import bounded_mean, clustered_means
from benchwright.tables.wicked import DrawWritten

_WRITTEN = "generate"


def compare_written_answers(compared_answers: Mapping[str, ComparedAnswers]) -> pd.DataFrame:
    """Put configurations that write their answer beside those of the same model that do not.

    Returns:
        A `DrawWritten` table of the models with a configuration in style `generate`. It is set
        beside the model's first one by score (letters before texts, more shots before fewer).
    """
    rows: list[dict[str, Any]] = []
    for name, seen in compared_answers.items():
        parsed = [parse_configuration(one) for one in seen.configurations]
        writers = {one.model for one in parsed if one.style == _WRITTEN}
        change = clustered_means(seen.mean_change(), seen.clusters)
        for row, one in enumerate(parsed):
            if one.model not in writers:
                continue
            written = one.style == _WRITTEN
            beside = _beside(seen, one.model) if written else None
            rows.append(
                {
                    "perturbation": name,
                    "model": one.model,
                    "configuration": seen.configurations[row],
                    "written": written,
                    "n_items": len(seen.item_ids),
                    "accuracy_original": float(seen.original[row].mean()),
                    "accuracy_mean": float(seen.drawn[:, row].mean()),
                    "delta": float(change.mean[row]),
                    "delta_low": float(change.low[row]),
                    "delta_high": float(change.high[row]),
                    "failed_original": float(seen.failed_original[row].mean()),
                    "failed_drawn": float(seen.failed_drawn[:, row].mean()),
                    "accuracy_original_extracted": _mean_of(
                        seen.original[row], ~seen.failed_original[row]
                    ),
                    "accuracy_mean_extracted": _mean_of(
                        seen.drawn[:, row], ~seen.failed_drawn[:, row]
                    ),
                    **_saved(seen, row, beside),
                }
            )
    return DrawWritten.from_rows(rows)


def _beside(seen: ComparedAnswers, model: str) -> int | None:
    """The row of the model's first configuration by score."""
    found = []
    for row, configuration in enumerate(seen.configurations):
        one = parse_configuration(configuration)
        if one.model == model and one.style and one.style != _WRITTEN:
            found.append((STYLES.index(one.style), -one.shots, row))
    return min(found)[2] if found else None


def _mean_of(values: Floats, marks: Bools) -> float:
    return float(values[marks].mean()) if marks.any() else float("nan")


def _saved(seen: ComparedAnswers, row: int, beside: int | None) -> dict[str, Any]:
    """What writing changes about the cost, item by item."""
    if beside is None:
        return {"saved": np.nan, "saved_low": np.nan, "saved_high": np.nan, "beside": ""}
    change = seen.mean_change()
    found = bounded_mean(change[row] - change[beside], seen.clusters)
    figures = {"saved": found.value, "saved_low": found.low, "saved_high": found.high}
    return {**figures, "beside": seen.configurations[beside]}
