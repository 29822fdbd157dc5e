"""Which samplers reached a wanted rank agreement, by the curves of a saved run."""

from typing import NamedTuple

import pandas as pd


class SamplerReach(NamedTuple):
    """The smallest subset of a sampler from which on its mean over repeats is high enough."""

    sampler: str
    items: int
    mean: float


def samplers_that_reach(
    curves: pd.DataFrame, agreement: str, wanted: float, panel: str
) -> list[SamplerReach]:
    """Samplers by rising number of items, then by name; those that never do are left out.

    A sampler is taken at the smallest size from which on all larger ones do too, so that one lucky
    rate does not count.

    Args:
        curves: columns sampler, panel, size, metric and mean (a `SamplingCurves` table).
        agreement: the metric, `tau_b` or `spearman`.
        wanted: its least mean.
        panel: of the models that judge.
    """
    own = curves[(curves["panel"] == panel) & (curves["metric"] == agreement)]
    found = []
    for sampler, rows in own.groupby("sampler"):
        falling = rows.sort_values("size", ascending=False)
        enough = (falling["mean"] >= wanted).cummin()
        if enough.any():
            last = falling[enough].iloc[-1]
            found.append(SamplerReach(str(sampler), int(last["size"]), float(last["mean"])))
    return sorted(found, key=lambda reach: (reach.items, reach.sampler))
