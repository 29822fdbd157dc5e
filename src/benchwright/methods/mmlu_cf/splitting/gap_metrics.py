"""The run in flat numbers, for MLflow."""

import numpy as np
import pandas as pd

from benchwright.core.configuration import configuration_name
from benchwright.core.metric_name import metric_name


def collect_gap_metrics(half_gap: pd.DataFrame, half_gap_shares: pd.DataFrame) -> dict[str, float]:
    """Collect Δ and corrected p of each configuration, alarms, and shares of small gaps."""
    whole = half_gap[half_gap["field"].eq("")]
    figures = {
        "configurations": float(len(whole)),
        "alarms": float(whole["suspicious"].sum()),
        "alarms_in_fields": float(half_gap["suspicious"].sum() - whole["suspicious"].sum()),
        "mean_delta": float(whole["delta"].mean()),
    }
    for row in whole.to_dict("records"):
        name = configuration_name(str(row["model"]), str(row["style"]), int(row["shots"]))
        for column in ("delta", "p_holm"):
            figures[f"{column}.{metric_name(name)}"] = float(row[column])
    everything = half_gap_shares[
        half_gap_shares["style"].eq("") & half_gap_shares["size_group"].eq("")
    ]
    for row in everything.to_dict("records"):
        bound = f"{100 * float(row['below']):g}_points"
        figures[f"share_below_{bound}"] = float(row["share"])
        figures[f"expected_below_{bound}"] = float(row["expected"])
    return {name: value for name, value in figures.items() if np.isfinite(value)}
