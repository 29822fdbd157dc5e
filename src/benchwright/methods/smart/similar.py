"""Items that say nearly the same, by distance in embedding space (SMART, section 3.4 and A.1).

The threshold δ is where the density of neighbour distances first peaks. That rule is
discontinuous: a slightly different bandwidth may find one peak less and move δ far. So the curve,
its peaks, the branch taken and what other bandwidths would do are all part of the result.
"""

import logging
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.seeding import stage_generator
from benchwright.methods.smart.finding import Bools, Grouping
from benchwright.params.filtering import FilteringParams, SimilarParams
from benchwright.similarity.neighbourhood import Neighbourhood, alike_pairs, item_vectors
from benchwright.similarity.threshold import (
    Threshold,
    choose_threshold,
    closer_than,
    density_distances,
    estimate,
)
from benchwright.statistics.density import Density, gaussian_density, local_maxima
from benchwright.statistics.nearest_neighbours import neighbours_of
from benchwright.tables.similarity import DistanceDensity, Neighbours, ThresholdSensitivity
from benchwright.tables.smart import DensityByK, NeighbourConvergence

log = logging.getLogger(__name__)

# A threshold that another bandwidth moves so far that more than twice as many items are close.
_JUMP = 2


def estimate_threshold(
    items: pd.DataFrame,
    neighbours: pd.DataFrame,
    filtering: FilteringParams,
    neighbour_search: dict[str, Any] | None = None,
) -> tuple[pd.DataFrame, dict[str, Any], pd.DataFrame]:
    """Estimates the density of neighbour distances and takes its first peak as the threshold.

    With a single peak half of its distance is taken (released code). Gives the curve, the
    threshold with the branch taken, and what other bandwidths would have made of it; warns when
    two bandwidths next to each other differ more than twofold in the items they find close. How
    neighbours were searched (`check_neighbours`) goes along, as `neighbour_search`.
    """
    params = filtering.similar
    near = Neighbourhood.of(items, neighbours)
    distances = density_distances(near, params.string_similarity_exempt)
    nearest = near.nearest_distances()
    density = gaussian_density(distances, params.bandwidth, params.grid)
    threshold = choose_threshold(density, params)
    within = int(closer_than(nearest, threshold).sum())
    sensitivity = _sensitivity(distances, nearest, len(items), params)
    warning = discontinuity(sensitivity)
    if warning:
        log.warning("similar: %s", warning)
    result = {
        "threshold": threshold.value,
        "branch": threshold.branch,
        "peaks": threshold.peaks,
        "bandwidth": params.bandwidth,
        "k": params.k,
        "std": density.std if density else None,
        "items_within": within,
        "share_within": within / len(items),
        "warning": warning,
        "neighbour_search": neighbour_search or {"method": "exact"},
    }
    return _curve(density), result, sensitivity


def group_similar_items(
    items: pd.DataFrame,
    neighbours: pd.DataFrame,
    similarity_threshold: dict[str, Any],
    filtering: FilteringParams,
) -> Grouping:
    """Groups items closer than the threshold: an item and its close neighbours, each item once.

    Items are taken in order of id. Questions that differ by a symbol are left out of each other's
    groups. `clusters: components` joins everything that is linked by close pairs.
    """
    params = filtering.similar
    if not params.enabled:
        return Grouping("similar", "off")
    near = Neighbourhood.of(items, neighbours)
    if not near.item_ids:
        return Grouping("similar", "not_run", f"no neighbours: {len(items)} items, no vectors")
    threshold = similarity_threshold["threshold"]
    if threshold is None:
        return Grouping("similar", "not_run", "the density of distances has no peak")
    close = _close_pairs(near, threshold, params.string_similarity_exempt)
    found = _stars(close) if params.clusters == "stars" else _components(close)
    judged = frozenset(near.item_ids)
    return Grouping(
        rule="similar",
        status="ran",
        reason=_approximate(similarity_threshold.get("neighbour_search", {})),
        groups=tuple(tuple(near.item_ids[row] for row in group) for group in found),
        value=dict(zip(near.item_ids, near.distances[:, 0].tolist(), strict=True)),
        not_judged=frozenset(item for item in items["item_id"] if item not in judged),
    )


def _approximate(search: dict[str, Any]) -> str:
    """What to know of neighbours that were not searched exactly, or ""."""
    if search.get("method") != "approximate":
        return ""
    return (
        "neighbours were searched approximately and "
        f"{search['recall']:.1%} of the true ones found, the nearest one for "
        f"{search['nearest_found']:.1%} (of {search['items_checked']} items drawn at random)"
    )


def _curve(density: Density | None) -> pd.DataFrame:
    if density is None:
        return DistanceDensity.empty()
    peak = np.zeros(len(density.x), dtype=bool)
    peak[local_maxima(density.y)] = True
    return pd.DataFrame({"x": density.x, "y": density.y, "peak": peak})


def _sensitivity(
    distances: NDArray[np.float64], nearest: NDArray[np.float64], items: int, params: SimilarParams
) -> pd.DataFrame:
    rows = []
    for bandwidth in params.sensitivity_bandwidths if len(nearest) else ():
        density = gaussian_density(distances, bandwidth, params.grid)
        threshold = choose_threshold(density, params)
        rows.append((bandwidth, *_outcome(threshold, nearest, items)))
    return ThresholdSensitivity.from_rows(rows)


def _outcome(
    threshold: Threshold, nearest: NDArray[np.float64], items: int
) -> tuple[int, str, float, int, float]:
    """Peaks, branch and value of a threshold, and the items within it with their share."""
    within = int(closer_than(nearest, threshold).sum())
    delta = np.nan if threshold.value is None else threshold.value
    return len(threshold.peaks), threshold.branch, delta, within, within / items


def discontinuity(sensitivity: pd.DataFrame) -> str:
    """The largest jump between two bandwidths next to each other, in words, or ""."""
    tried = zip(
        sensitivity["bandwidth"].tolist(), sensitivity["items_within"].tolist(), strict=True
    )

    def factor(pair: tuple[tuple[float, int], tuple[float, int]]) -> float:
        few, many = sorted((pair[0][1], pair[1][1]))
        return many / max(few, 1)  # one item is no jump

    jump = max(pairwise(tried), key=factor, default=None)
    if jump is None or factor(jump) <= _JUMP:
        return ""
    (narrow, before), (wide, after) = jump
    return (
        f"the threshold is unstable: bandwidth {narrow:.2f} finds {before} items close, "
        f"{wide:.2f} finds {after}"
    )


class _ClosePairs(NamedTuple):
    """Pairs closer than δ: for each of n items its close neighbours, nearest first."""

    n: int
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]


def _close_pairs(near: Neighbourhood, threshold: float, exempt: float | None) -> _ClosePairs:
    rows, ranks = np.nonzero(near.distances < threshold)
    if exempt is not None and len(rows):
        different: Bools = ~alike_pairs(near, rows, ranks, exempt)
        rows, ranks = rows[different], ranks[different]
    return _ClosePairs(len(near.item_ids), rows, near.indices[rows, ranks])


def _stars(close: _ClosePairs) -> Iterator[list[int]]:
    """Each item with its close neighbours, in order of id, without items that are in a group."""
    taken = np.zeros(close.n, dtype=bool)
    starts = np.searchsorted(close.rows, np.arange(close.n + 1))
    for centre in np.unique(close.rows):
        star = np.concatenate(([centre], close.columns[starts[centre] : starts[centre + 1]]))
        # A centre that is in a group already still gathers the neighbours that are in none.
        free = star[~taken[star]]
        if len(free) > 1:
            taken[free] = True
            yield free.tolist()


def _components(close: _ClosePairs) -> Iterator[list[int]]:
    """Items linked by close pairs, directly or through others."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array(
        (np.ones(len(close.rows), dtype=np.int8), (close.rows, close.columns)),
        shape=(close.n, close.n),
    )
    count, label = connected_components(links, directed=False)
    members = np.argsort(label, kind="stable")
    bounds = np.searchsorted(label[members], np.arange(count + 1))
    for first, last in pairwise(bounds):
        if last - first > 1:
            yield members[first:last].tolist()


# Items whose neighbours are found exactly to tell how many the search has missed.
_RECALL_CHECKED = 200


def find_neighbours(
    items: pd.DataFrame, embeddings: pd.DataFrame, filtering: FilteringParams
) -> pd.DataFrame:
    """Finds the 100 nearest other items of each item by cosine distance.

    Exactly up to `similar.exact_up_to` items, approximately above. Items without a vector have no
    neighbours. Empty when the rule is off.

    Raises:
        InputError: vectors of different lengths (made with different encoders), or faiss is needed
            and not installed.
    """
    similar = filtering.similar
    if not similar.enabled or embeddings.empty:
        return Neighbours.empty()
    near = Neighbourhood.nearest(items, embeddings, similar.k, similar.exact_up_to)
    if not near.item_ids:
        return Neighbours.empty()
    names = pd.Series(near.item_ids, dtype="str")
    return pd.DataFrame(
        {
            "item_id": names.repeat(near.indices.shape[1]).reset_index(drop=True),
            "neighbour": names.take(near.indices.ravel()).reset_index(drop=True),
            "distance": near.distances.ravel(),
        }
    )


def check_neighbours(
    items: pd.DataFrame,
    embeddings: pd.DataFrame,
    neighbours: pd.DataFrame,
    filtering: FilteringParams,
    seed: int,
) -> dict[str, Any]:
    """Tells how neighbours were searched, and what share of the true ones was found.

    Returns:
        `method`: `none` (no neighbours), `exact` or `approximate`. For the last one also
        `items_checked`, 200 drawn at random, whose neighbours are found again among all pairs;
        `recall`, the mean share of their k nearest that are in `neighbours`; `nearest_found`, the
        share of them whose nearest is; `lowest_recall` of one of them.
    """
    if neighbours.empty:
        return {"method": "none"}
    ids, vectors = item_vectors(items, embeddings)
    if len(ids) <= filtering.similar.exact_up_to:
        return {"method": "exact"}
    draw = stage_generator(seed, "filtering.neighbour_recall")
    rows = np.sort(draw.choice(len(ids), min(_RECALL_CHECKED, len(ids)), replace=False))
    exact = neighbours_of(vectors, rows, filtering.similar.k)
    asked = neighbours[neighbours["item_id"].isin([ids[row] for row in rows])]
    found = asked.groupby("item_id")["neighbour"].agg(set)
    true = [[ids[column] for column in columns] for columns in exact.indices]
    shares = [
        len(found[ids[row]].intersection(nearest)) / len(nearest)
        for row, nearest in zip(rows, true, strict=True)
    ]
    first = [nearest[0] in found[ids[row]] for row, nearest in zip(rows, true, strict=True)]
    return {
        "method": "approximate",
        "items_checked": len(rows),
        "recall": float(np.mean(shares)),
        "lowest_recall": float(np.min(shares)),
        "nearest_found": float(np.mean(first)),
    }


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
        rows.append((k, *_outcome(threshold, nearest, len(items))))
        if density is not None:
            shown = np.unique(np.linspace(0, len(density.x) - 1, _PLOTTED).round().astype(np.intp))
            curves += [(k, x, y) for x, y in zip(density.x[shown], density.y[shown], strict=True)]
    return NeighbourConvergence.from_rows(rows), DensityByK.from_rows(curves)
