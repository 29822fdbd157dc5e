"""The run in flat numbers, for MLflow."""

import numpy as np
import pandas as pd

from benchwright.core.metric_name import metric_name

_COLUMNS = ("exact", "fuzzy", "control_whole", "options_exact", "options_fuzzy", "any_order")


def collect_memorisation_metrics(memorisation_summary: pd.DataFrame) -> dict[str, float]:
    """Collect shares, p-values and the number of models that remember, for MLflow."""
    figures = {
        "models": float(len(memorisation_summary)),
        "models_that_remember": float(memorisation_summary["remembers"].sum()),
    }
    for row in memorisation_summary.to_dict("records"):
        name = metric_name(str(row["model"]))
        for column in (*_COLUMNS, "p_holm"):
            figures[f"{column}.{name}"] = float(row[column])
    return {name: value for name, value in figures.items() if np.isfinite(value)}
