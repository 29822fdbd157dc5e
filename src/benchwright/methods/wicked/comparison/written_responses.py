"""Cost of a perturbation with written and with scored answers (WiCkeD, Table 2)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.configuration import by_score_first, parse_configuration
from benchwright.methods.wicked.comparison.compared_responses import ComparedResponses
from benchwright.statistics.proportion import bounded_mean, clustered_means
from benchwright.tables.wicked import ComparisonWritten

_WRITTEN = "generate"


def compare_written_responses(compared_responses: Mapping[str, ComparedResponses]) -> pd.DataFrame:
    """Compare configurations with written answers with scored ones of the same model.

    Return a `ComparisonWritten` table of the models with a configuration in style `generate`. It is
    compared with the model's first one by score (letters before texts, more shots first).
    """
    rows: list[dict[str, Any]] = []
    for name, compared in compared_responses.items():
        parsed = [parse_configuration(each) for each in compared.configurations]
        writers = {each.model for each in parsed if each.style == _WRITTEN}
        mean_change = compared.mean_change()
        change = clustered_means(mean_change, compared.clusters)
        for row, asked in enumerate(parsed):
            if asked.model not in writers:
                continue
            metrics = {
                "accuracy_original": compared.original[row].mean(),
                "accuracy_mean": compared.perturbed[:, row].mean(),
                "delta": change.mean[row],
                "delta_low": change.low[row],
                "delta_high": change.high[row],
                "failed_original": compared.failed_original[row].mean(),
                "failed_perturbed": compared.failed_perturbed[:, row].mean(),
                **dict.fromkeys(("recovered", "recovered_low", "recovered_high"), np.nan),
            }
            by_score = [
                other
                for other, each in enumerate(parsed)
                if each.model == asked.model and each.style not in ("", _WRITTEN)
            ]
            compared_with = ""
            if asked.style == _WRITTEN and by_score:
                other = min(by_score, key=lambda other: by_score_first(parsed[other]))
                compared_with = compared.configurations[other]
                gap = bounded_mean(mean_change[row] - mean_change[other], compared.clusters)
                names = ("recovered", "recovered_low", "recovered_high")
                metrics |= dict(zip(names, gap[:3], strict=True))
            rows.append(
                {
                    "perturbation": name,
                    "model": asked.model,
                    "configuration": compared.configurations[row],
                    "written": asked.style == _WRITTEN,
                    "n_items": len(compared.item_ids),
                    **{column: float(metric) for column, metric in metrics.items()},
                    "compared_with": compared_with,
                }
            )
    return ComparisonWritten.from_rows(rows)
