"""Cost of a perturbation with written and with scored answers (WiCkeD, Table 2)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from benchwright.core.configuration import Configuration, by_score_first, parse_configuration
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
            found = {
                "perturbation": name,
                "model": asked.model,
                "configuration": compared.configurations[row],
                "written": asked.style == _WRITTEN,
                "n_items": len(compared.item_ids),
                "accuracy_original": compared.original[row].mean(),
                "accuracy_mean": compared.perturbed[:, row].mean(),
                "delta": change.mean[row],
                "delta_low": change.low[row],
                "delta_high": change.high[row],
                "failed_original": compared.failed_original[row].mean(),
                "failed_perturbed": compared.failed_perturbed[:, row].mean(),
                "compared_with": "",
            }
            other = _first_by_score(parsed, asked.model)
            if asked.style == _WRITTEN and other is not None:
                gap = bounded_mean(mean_change[row] - mean_change[other], compared.clusters)
                found |= {
                    "recovered": gap.value,
                    "recovered_low": gap.low,
                    "recovered_high": gap.high,
                    "compared_with": compared.configurations[other],
                }
            rows.append(found)
    return ComparisonWritten.from_rows(rows)


def _first_by_score(parsed: Sequence[Configuration], model: str) -> int | None:
    """Return the place of a model's first configuration that is scored by probabilities."""
    by_score = []
    for place, each in enumerate(parsed):
        if each.model == model and each.style not in ("", _WRITTEN):
            by_score.append(place)
    return min(by_score, key=lambda place: by_score_first(parsed[place]), default=None)
