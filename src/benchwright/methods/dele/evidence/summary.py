"""Each sampler in one row: what it keeps at one rate, and how few items do (DELE, Table 1)."""

import numpy as np
import pandas as pd

from benchwright.methods.dele.evidence.judging import kinds_of, ready_samplers
from benchwright.methods.dele.evidence.panels import CHOSEN_BY, SamplingPanels
from benchwright.methods.dele.evidence.pools import Pools
from benchwright.methods.dele.samplers.curves import repeat_seed
from benchwright.params.sampling import SamplingParams
from benchwright.tables.dele import SamplingSummary

_KEPT = ("spearman", "tau_b")


def summarise_samplers(
    sampling_curves: pd.DataFrame,
    pools: Pools,
    panels: SamplingPanels,
    sampling: SamplingParams,
    seed: int,
) -> pd.DataFrame:
    """Sum up each sampler for the panel of headlines and the paper's, where it is one of these.

    The smallest sufficient rate is the smallest from which on the mean correlation stays at
    `keep` or above. Tokens are those of the first repeat's items.

    Returns:
        A `SamplingSummary` table, a panel's best Spearman first.
    """
    main, kinds = sampling.evidence.main_rate, kinds_of(sampling)
    rows = []
    for panel in dict.fromkeys((panels.main, "paper")):
        if panel not in panels.groups:
            continue
        own = sampling_curves[sampling_curves["panel"] == panel]
        for name, curves in own.groupby("sampler", sort=True):
            values = curves.set_index(["metric", "rate"])["mean"]
            at = curves[curves["rate"] == main].set_index("metric")
            mean, sd = at["mean"].astype(float).to_dict(), at["sd"].astype(float).to_dict()
            row = [str(name), kinds[str(name)].family, panel, len(panels.groups[panel]), main]
            row += [int(at["size"].iloc[0])]
            row += [mean[m] for m in (*_KEPT, "pearson")]
            row += [mean[m] for m in ("wasserstein", "mean_absolute_error")]
            row += [sd[m] ** 2 for m in ("pearson", "wasserstein")]
            sizes = curves.drop_duplicates("rate").set_index("rate")["size"]
            for metric in _KEPT:
                rate = smallest_rate(values[metric], sampling.evidence.keep)
                size = int(sizes[rate]) if not np.isnan(rate) else 0
                used = _tokens(str(name), size, panel, pools, sampling, seed)
                row += [rate, size, used]
            rows.append((*row, float(pools.tokens.sum()), pools.tokens_by))
    table = SamplingSummary.from_rows(rows)
    return table.sort_values(
        ["panel", "spearman", "sampler"], ascending=[True, False, True], ignore_index=True
    )


def smallest_rate(values: pd.Series, keep: float) -> float:
    """The smallest rate from which on all `values` (by rate) reach `keep`; NaN without any."""
    rising = values.sort_index()
    falls = np.flatnonzero(~(rising >= keep).to_numpy())
    first = int(falls[-1]) + 1 if len(falls) else 0
    return float(rising.index[first]) if first < len(rising) else float("nan")


def _tokens(
    name: str, size: int, panel: str, pools: Pools, sampling: SamplingParams, seed: int
) -> float:
    if not size:
        return float("nan")
    pool = pools.by_choosers[CHOSEN_BY[panel]]
    subset = ready_samplers(sampling)[name](pool, repeat_seed(seed, name, 0))(size)
    return float(pools.tokens.to_numpy()[subset.positions].sum())
