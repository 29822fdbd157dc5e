"""The tables of the comparison as rows of words, ready for the page."""

import math
from typing import Any

import pandas as pd

from benchwright.methods.wicked.comparison.compared_answers import say_way
from benchwright.methods.wicked.comparison.instruct import FAMILIES
from benchwright.reports.page.table_rows import rows_of
from benchwright.reports.wicked.wording import (
    REASONS,
    WORDINGS,
    coefficient,
    coefficients,
    interval,
    points,
    words_of,
)

_SHUFFLE = ("kendall_tau_b", "spearman", "tau_b_between_draws", "tau_b_resampled")
WRITTEN = (("delta", "delta_low", "delta_high"), ("saved", "saved_low", "saved_high"))
STEPS = (("step_delta", "step_low", "step_high"), ("total_delta", "total_low", "total_high"))


def with_points(row: dict[Any, Any], fields: tuple[tuple[str, str, str], ...]) -> dict[Any, Any]:
    """A row with `<field>_said` and `<field>_bounds` in words."""
    said = dict(row)
    for name, low, high in fields:
        said[f"{name}_said"] = points(row[name])
        said[f"{name}_bounds"] = interval(row[low], row[high])
    return said


def score_rows(draw_scores: pd.DataFrame, ways: list[str]) -> list[dict[Any, Any]]:
    """The rows by way of asking in the order of `ways`, best first."""
    places = draw_scores["asked"].map({way: place for place, way in enumerate(ways)})
    ordered = draw_scores.assign(place=places).sort_values(
        ["perturbation", "place", "accuracy_original", "configuration"],
        ascending=[True, True, False, True],
        kind="stable",
    )
    rows = []
    for row in rows_of(ordered):
        uneven = row["fewer_shots_original"] + row["fewer_shots_drawn"]
        rows.append(
            with_points(row, (("delta", "delta_low", "delta_high"),))
            | {
                "sd": points(row["accuracy_sd"], signed=False),
                "uneven": uneven,
                "equal": points(row["delta_equal_shots"]),
                "ranks": [_rank(row, "original"), _rank(row, "mean")],
            }
        )
    return rows


def _rank(row: dict[Any, Any], side: str) -> dict[str, str]:
    rank, low, high = (row[f"rank_{side}{end}"] for end in ("", "_low", "_high"))
    return {
        "rank": "—" if rank is None else f"{rank:g}",
        "bounds": "" if low is None else f"{low:g}–{high:g}",
    }


def shuffle_rows(draw_summary: pd.DataFrame) -> list[dict[str, Any]]:
    """One row for each perturbation and way of asking, its figures in the order of `_SHUFFLE`."""
    rows = []
    for (name, way), own in draw_summary.groupby(["perturbation", "asked"], sort=False):
        figures = {row["metric"]: row for row in rows_of(own)}
        missing = {figures[metric]["reason"]: None for metric in _SHUFFLE if metric in figures}
        rows.append(
            {
                "perturbation": name,
                "asked": say_way(str(way)) or "asked in one way",
                "n_models": int(own["n_models"].iloc[0]),
                "cost": points(figures["mean_delta"]["value"]),
                "cost_bounds": interval(
                    figures["mean_delta"]["low"], figures["mean_delta"]["high"]
                ),
                "figures": [
                    (
                        coefficient(figures[metric]["value"]),
                        coefficients(figures[metric]["low"], figures[metric]["high"]),
                    )
                    for metric in _SHUFFLE
                ],
                "reason": "; ".join(reason for reason in missing if reason),
            }
        )
    return rows


def none_rows(draw_none_rates: pd.DataFrame) -> list[dict[str, Any]]:
    """One row for each perturbation and configuration, detection beside false alarms."""
    rows = []
    for (name, configuration), own in draw_none_rates.groupby(["perturbation", "configuration"]):
        by_gold = {row["gold"]: row for row in rows_of(own)}
        found, alarm = by_gold["removed"], by_gold["kept"]
        chances = [row["by_chance"] for row in (found, alarm) if row["by_chance"] is not None]
        rows.append(
            {
                "perturbation": name,
                "configuration": configuration,
                "rates": [found, alarm],
                "by_chance": sum(chances) / len(chances) if chances else None,
            }
        )
    return rows


def reversal(row: dict[Any, Any]) -> dict[Any, Any]:
    """A row of `DrawReversals` in words."""
    p = row["p_holm"]
    return {
        **row,
        "asked": say_way(row["asked"]) or "asked in one way",
        "before": points(row["gap_original"]),
        "after": points(row["gap_mean"]),
        "p": "< 0.001" if p < 0.001 else f"{p:.3f}",
        "sure": not math.isnan(p) and p <= 0.05,
    }


def instruct(row: dict[Any, Any]) -> dict[Any, Any]:
    """A row of `DrawInstruct` in words."""
    names = {"": "all models", FAMILIES: "mean over families with both"}
    return {
        **row,
        "asked": say_way(row["asked"]) or "asked in one way",
        "label": names.get(row["family"], row["family"]),
        "tuned": points(row["delta_instruct"]),
        "base": points(row["delta_base"]),
        "gap": points(row["difference"]),
        "bounds": interval(row["low"], row["high"]),
    }


def outcome(row: dict[Any, Any]) -> dict[Any, Any]:
    """A row of `DrawCoverage` in words."""
    return {**row, "said": "altered" if row["outcome"] == "altered" else _reason(row["outcome"])}


def _reason(name: str) -> str:
    return f"copied: {words_of(REASONS, name)}"


def wordings(option_wordings: pd.DataFrame) -> list[dict[str, Any]]:
    """Items and demonstrations with such an option, by kind."""
    rows = []
    for (role, kind), own in option_wordings.groupby(["role", "kind"], sort=False):
        in_stem = int((own["place"] < 0).sum())
        rows.append(
            {
                "role": str(role),
                "kind": words_of(WORDINGS, str(kind)),
                "items": int(own["item_id"].nunique()),
                "options": len(own) - in_stem,
                "stems": in_stem,
                "gold": int(own["gold"].sum()),
            }
        )
    return rows
