"""Figures over rates, each beside random subsets (DELE, Figures 1–32)."""

import pandas as pd

from benchwright.methods.dele.evidence.random_draws import MIDDLE
from benchwright.methods.dele.samplers.curves import FIGURES
from benchwright.tables.dele import SamplingCurves

_KEY = ["sampler", "panel", "rate", "size"]


def trace_curves(sampling_figures: pd.DataFrame, random_bands: pd.DataFrame) -> pd.DataFrame:
    """Trace each figure over the rates: mean, spread over repeats, and random's band.

    Returns:
        A `SamplingCurves` table.
    """
    if sampling_figures.empty:
        return SamplingCurves.empty()
    long = sampling_figures.melt(_KEY, list(FIGURES), var_name="metric", value_name="value")
    groups = long.groupby([*_KEY, "metric"], sort=True)["value"]
    table = pd.DataFrame(
        {
            "mean": groups.mean(),
            "sd": groups.std(ddof=1),
            "low": groups.quantile(MIDDLE[0]),
            "high": groups.quantile(MIDDLE[2]),
        }
    ).reset_index()
    table = table.merge(random_bands, on=["panel", "rate", "size", "metric"], how="left")
    return pd.DataFrame(SamplingCurves.validate(table[SamplingCurves.columns()]))
