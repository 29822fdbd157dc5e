"""Tables of the report, as rows with their figures in words."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from benchwright.methods.dele.evidence.choice import EVERYONE
from benchwright.methods.dele.evidence.judging import RANDOM
from benchwright.methods.dele.evidence.panels import SamplingPanels
from benchwright.params.sampling import SamplingParams
from benchwright.reports.dele.headline import METRIC
from benchwright.reports.dele.plots.curves import LINES
from benchwright.reports.dele.wording import METRICS, PANELS, bounds, coefficient
from benchwright.reports.page.table_rows import rows_of

_COEFFICIENTS = ("spearman", "tau_b", "pearson")
_DISTANCES = ("wasserstein", "mean_absolute_error")


def summary_rows(sampling_summary: pd.DataFrame) -> list[dict[str, Any]]:
    """By panel its name in words, models and samplers, distances in points."""
    found = []
    for panel, own in sampling_summary.groupby("panel", sort=False):
        rows = []
        for row in rows_of(own):
            row |= {name: coefficient(row[name]) for name in _COEFFICIENTS}
            row |= {name: _points(row[name]) for name in _DISTANCES}
            rows.append(row)
        words = f"{int(own['n_models'].iloc[0]):,} {PANELS[str(panel)]}"
        found.append({"panel": str(panel), "words": words, "rows": rows})
    return found


def against_rows(sampling_against_random: pd.DataFrame) -> list[dict[str, Any]]:
    """By panel and rate, each sampler's tau-b among random subsets, best first."""
    own = sampling_against_random[sampling_against_random["metric"] == METRIC]
    found = []
    for (panel, rate), rows in own.groupby(["panel", "rate"], sort=True):
        ordered = rows.sort_values(["better_by", "sampler"], ascending=[False, True])
        first = ordered.iloc[0]
        found.append(
            {
                "title": f"{rate:g}%, {int(first['size']):,} items, "
                f"{int(first['n_models']):,} {PANELS[str(panel)]}",
                "band": bounds(first["random_low"], first["random_high"]),
                "median": coefficient(first["random_median"]),
                "subsets": int(first["random_subsets"]),
                "rows": [_tested(row) for row in rows_of(ordered)],
            }
        )
    return found


def choice_rows(sampler_choice: pd.DataFrame) -> list[dict[str, Any]]:
    """All models' choice first, then the splits."""
    return [
        {
            **row,
            "by": "all models" if row["split"] == EVERYONE else f"split {row['split'] + 1}",
            "metric": METRICS[str(row["metric"])],
            "apparent": coefficient(row["apparent_gain"]),
            "held_out": coefficient(row["held_out_gain"]),
            "luck": coefficient(row["luck_gain"]),
        }
        for row in rows_of(sampler_choice)
    ]


def chosen_rows(chosen_curves: pd.DataFrame, rates: Sequence[float]) -> list[dict[str, Any]]:
    """By rate and line the means over splits, with the middle 95% of random subsets last."""
    found: list[dict[str, Any]] = []
    for rate in rates:
        own = chosen_curves[chosen_curves["rate"] == rate]
        means = own.pivot_table(values="mean", index="line", columns="metric", dropna=False)
        by_line = means.to_dict("index")
        found += [
            {"rate": rate, "line": LINES[line], **_figures(by_line[line])}
            for line in LINES
            if line in by_line
        ]
        if by_line:
            found.append({"rate": rate, "line": "single random subsets, 95%", **_bands(own)})
    return found


def target_rows(target_curves: pd.DataFrame, rate: float) -> list[dict[str, Any]]:
    """By target each sampler's figures at one rate, the smallest error of the scores first."""
    found = []
    for target, own in target_curves[target_curves["rate"] == rate].groupby("target", sort=True):
        means = own.pivot_table(values="mean", index="sampler", columns="metric", dropna=False)
        ordered = means.sort_values("mean_absolute_error", kind="stable").index
        places = own.pivot_table(
            values="percentile", index="sampler", columns="metric", dropna=False
        )
        by_sampler = means.to_dict("index")
        placed = dict(zip(places.index, rows_of(places), strict=True))
        found.append(
            {
                "target": str(target),
                "size": int(own["size"].iloc[0]),
                "n_models": int(own["n_models"].iloc[0]),
                "band": _bands(own),
                "rows": [
                    {
                        "sampler": str(name),
                        **_figures(by_sampler[name]),
                        "tau_b_place": placed[name]["tau_b"],
                        "error_place": placed[name]["mean_absolute_error"],
                    }
                    for name in ordered
                ],
            }
        )
    return found


def summary_tiles(
    panels: SamplingPanels, sampling_summary: pd.DataFrame, sampling: SamplingParams
) -> list[dict[str, str]]:
    """Figures at the top of the page."""
    tiles = [
        _tile(
            "Items",
            f"{len(panels.item_ids):,}",
            f"of {panels.all_items:,}, that all models answered",
        ),
        _tile(
            "Models",
            f"{len(panels.models):,}",
            f"{len(panels.groups['selection']):,} choose, {len(panels.groups['held_out']):,} of "
            "other families judge",
        ),
    ]
    own = sampling_summary[
        (sampling_summary["sampler"] == RANDOM) & (sampling_summary["panel"] == panels.main)
    ]
    if len(own):
        row = own.iloc[0]
        rate = f"{sampling.evidence.main_rate:g}% at random"
        tiles += [
            _tile(
                f"Score error, {rate}",
                _points(row["mean_absolute_error"]),
                "points, mean over models",
            ),
            _tile(
                f"Smallest rate for Spearman {sampling.evidence.keep:g}",
                "—" if pd.isna(row["rate_for_spearman"]) else f"{row['rate_for_spearman']:g}%",
                f"{int(row['items_for_spearman']):,} items at random",
            ),
        ]
    return tiles


def _tested(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "mean": coefficient(row["mean"]),
        "better_by": coefficient(row["better_by"]),
        "p_holm": "" if row["p_holm"] is None else _p(row["p_holm"]),
        "p": "" if row["p"] is None else _p(row["p"]),
    }


def _figures(values: Mapping[Hashable, Any]) -> dict[str, str]:
    """Figures by metric in words, distances in points."""
    return {name: coefficient(values[name]) for name in _COEFFICIENTS} | {
        name: _points(values[name]) for name in _DISTANCES
    }


def _bands(curves: pd.DataFrame) -> dict[str, str]:
    """Random's band by metric in words, at one rate."""
    rows = curves.drop_duplicates("metric").set_index("metric")
    lows, highs = (rows[name].to_dict() for name in ("random_low", "random_high"))
    return {name: bounds(lows[name], highs[name]) for name in _COEFFICIENTS} | {
        name: bounds(100 * lows[name], 100 * highs[name], 2) for name in _DISTANCES
    }


def _p(value: float) -> str:
    return "< .001" if value < 0.001 else f"{value:.3f}"


def _points(share: float | None) -> str:
    return coefficient(None if share is None else 100 * share, 2)


def _tile(name: str, value: str, note: str) -> dict[str, str]:
    return {"name": name, "value": value, "note": note}
