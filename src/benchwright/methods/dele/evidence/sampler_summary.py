"""A summary of each sampler: results at one rate, and the smallest sufficient rate (Table 1)."""

import numpy as np
import pandas as pd

from benchwright.methods.dele.evidence.against_random import draw_random_bands
from benchwright.methods.dele.evidence.panels import SamplingPanels
from benchwright.methods.dele.evidence.rate_curves import trace_curves
from benchwright.methods.dele.evidence.sampler_results import compare_samplers, repeat_seed
from benchwright.methods.dele.evidence.study import SamplingStudy, prepare_study
from benchwright.methods.dele.samplers.pool import VectorsByText
from benchwright.methods.dele.samplers.registry import sampler_kinds
from benchwright.params.sampling import SamplingParams
from benchwright.params.scoring import ModelsParams
from benchwright.tables.dele import SamplingSummary

_KEPT = ("spearman", "tau_b")


def summarise_samplers(sampling_curves: pd.DataFrame, study: SamplingStudy) -> pd.DataFrame:
    """Summarise each sampler on the main panel, and on the paper's panel if it is present.

    The smallest sufficient rate is the smallest at which, and at all higher rates, the mean
    correlation is at least `keep`. Tokens are those of the first repeat's items. Return a
    `SamplingSummary` table, sorted by panel and decreasing Spearman correlation.
    """
    evidence, panels = study.sampling.evidence, study.panels
    kinds = sampler_kinds(study.sampling)
    rows = []
    for panel in dict.fromkeys((panels.main, "paper")):
        if panel not in panels.groups:
            continue
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
                sufficient += [rate, size, _tokens(str(name), size, panel, study)]
            rows.append(
                (
                    *(str(name), kinds[str(name)].family, panel, len(panels.groups[panel])),
                    *(evidence.main_rate, int(at["size"].iloc[0])),
                    *(mean[m] for m in (*_KEPT, "pearson", "wasserstein", "mean_absolute_error")),
                    *(float(at["sd"]["spearman"]), *sufficient),
                    *(float(study.tokens.sum()), study.tokens_by),
                )
            )
    table = SamplingSummary.from_rows(rows)
    return table.sort_values(
        ["panel", "spearman", "sampler"], ascending=[True, False, True], ignore_index=True
    )


def smallest_rate(values: pd.Series, keep: float) -> float:
    """Return the smallest rate r with `values` ≥ `keep` at r and all higher rates, or NaN."""
    rising = values.sort_index()
    falls = np.flatnonzero(~(rising >= keep).to_numpy())
    first = int(falls[-1]) + 1 if len(falls) else 0
    return float(rising.index[first]) if first < len(rising) else float("nan")


def _tokens(name: str, size: int, panel: str, study: SamplingStudy) -> float:
    if not size:
        return float("nan")
    seed = repeat_seed(study.seed, name, 0)
    subset = study.samplers()[name](study.pool_of(panel), seed)(size)
    return float(study.tokens[subset.positions].sum())


def compare_on_paper_panel(
    items: pd.DataFrame,
    paper_panel: SamplingPanels,
    pool_vectors: dict[str, VectorsByText],
    sampling: SamplingParams,
    models: ModelsParams,
    seed: int,
) -> pd.DataFrame:
    """Measure every sampler on the paper's panel and the items that it answered.

    Samplers that read responses read those of the panel itself, so the results are in-sample.
    Return a `SamplingSummary` table of this panel.
    """
    if not paper_panel.item_ids:
        return SamplingSummary.empty()
    study = prepare_study(items, paper_panel, pool_vectors, sampling, models, seed)
    results, _ = compare_samplers(study)
    return summarise_samplers(trace_curves(results, draw_random_bands(study)), study)
