"""Where the threshold settles as more neighbours are looked at (SMART, A.1 and Figure 5)."""

import numpy as np
import pandas as pd

from benchwright.params.filtering import FilteringParams
from benchwright.similarity.neighbourhood import Neighbourhood
from benchwright.similarity.threshold import closer_than, estimate
from benchwright.tables.smart import DensityByK, NeighbourConvergence

_PLOTTED = 200  # points of each curve


def vary_neighbour_count(
    items: pd.DataFrame, embeddings: pd.DataFrame, filtering: FilteringParams
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Estimates the threshold δ from the k nearest neighbours of each item, for several k.

    All else is as in the rule: near-identical questions are skipped, same kernel, same branches.
    The k are those of `similar.convergence_k` that n items have, that is below n. The neighbours
    are found once, for the largest, approximately where the rule does so. A fixed threshold is
    the same at every k.

    Returns:
        `NeighbourConvergence` and, with at most 200 points for each k, `DensityByK`; both empty
        where the rule is off, there are fewer than two vectors, or no k is below their number.

    Raises:
        InputError: vectors of different lengths (made with different encoders).
    """
    similar = filtering.similar
    both_empty = NeighbourConvergence.empty(), DensityByK.empty()
    with_vector = items["item_id"].isin(embeddings["item_id"]).sum()
    counts = [k for k in similar.convergence_k if k < with_vector]
    if not similar.enabled or not counts:
        return both_empty
    near = Neighbourhood.nearest(items, embeddings, counts[-1], similar.exact_up_to)
    nearest = near.nearest_distances()
    rows, curves = [], []
    for k in counts:
        density, threshold = estimate(near.first(k), similar)
        within = int(closer_than(nearest, threshold).sum())
        delta = np.nan if threshold.value is None else threshold.value
        rows.append((k, len(threshold.peaks), threshold.branch, delta, within, within / len(items)))
        if density is not None:
            shown = np.linspace(0, len(density.x) - 1, _PLOTTED).round().astype(np.intp)
            shown = np.unique(shown)
            curves += [(k, x, y) for x, y in zip(density.x[shown], density.y[shown], strict=True)]
    return NeighbourConvergence.from_rows(rows), DensityByK.from_rows(curves)
