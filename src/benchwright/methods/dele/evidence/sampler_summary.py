"""A summary of each sampler: results at one rate, and the smallest sufficient rate (Table 1)."""

import numpy as np
import pandas as pd

from benchwright.methods.dele.evidence.sampler_results import repeat_seed
from benchwright.methods.dele.evidence.study import SamplingStudy
from benchwright.methods.dele.samplers.registry import sampler_kinds
from benchwright.tables.dele import SamplingSummary

_KEPT = ("spearman", "tau_b")


def summarise_samplers(sampling_curves: pd.DataFrame, study: SamplingStudy) -> pd.DataFrame:
    """Summarise each sampler on the main panel.

    The smallest sufficient rate is the smallest at which, and at all higher rates, the mean
    correlation is at least `keep`. Tokens are those of the first repeat's items. Return a
    `SamplingSummary` table, sorted by decreasing Spearman correlation.
    """
    evidence, panel = study.sampling.evidence, study.panels.main
    kinds = sampler_kinds(study.sampling)
    rows = []
    of_panel = sampling_curves[sampling_curves["panel"] == panel]
    for name, curves in of_panel.groupby("sampler", sort=True):
        values = curves.set_index(["metric", "rate"])["mean"]
        at = curves[curves["rate"] == evidence.main_rate].set_index("metric")
        mean = at["mean"].astype(float).to_dict()
        sizes = curves.drop_duplicates("rate").set_index("rate")["size"]
        sufficient: list[float] = []
        for metric in _KEPT:
            rate = smallest_rate(values[metric], evidence.keep)
            size = int(sizes[rate]) if not np.isnan(rate) else 0
            sufficient += [rate, size, _tokens(str(name), size, study)]
        rows.append(
            (
                *(str(name), kinds[str(name)].family, panel, len(study.panels.groups[panel])),
                *(evidence.main_rate, int(at["size"].iloc[0])),
                *(mean[m] for m in (*_KEPT, "pearson", "wasserstein", "mean_absolute_error")),
                *(float(at["sd"]["spearman"]), *sufficient),
                *(float(study.tokens.sum()), study.tokens_by),
            )
        )
    table = SamplingSummary.from_rows(rows)
    return table.sort_values(["spearman", "sampler"], ascending=[False, True], ignore_index=True)


def smallest_rate(values: pd.Series, keep: float) -> float:
    """Return the smallest rate r with `values` ≥ `keep` at r and all higher rates, or NaN."""
    rising = values.sort_index()
    falls = np.flatnonzero(~(rising >= keep).to_numpy())
    first = int(falls[-1]) + 1 if len(falls) else 0
    return float(rising.index[first]) if first < len(rising) else float("nan")


def _tokens(name: str, size: int, study: SamplingStudy) -> float:
    if not size:
        return float("nan")
    seed = repeat_seed(study.seed, name, 0)
    subset = study.samplers()[name](study.pool_of(study.panels.main), seed)(size)
    return float(study.tokens[subset.positions].sum())
