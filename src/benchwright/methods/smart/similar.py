"""Similar items, by distance in embedding space (SMART, section 3.4 and A.1)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.array_types import Integers, Places
from benchwright.core.language import likely_languages
from benchwright.core.neighbourhood import Neighbourhood
from benchwright.core.seeding import stage_generator
from benchwright.methods.smart.finding import Grouping
from benchwright.params.filtering import FilteringParams
from benchwright.params.scoring import ModelsParams
from benchwright.similarity import threshold as thresholds
from benchwright.similarity.neighbour_search import (
    alike_pairs,
    item_vectors,
    questions_of,
    search_neighbours,
)
from benchwright.similarity.threshold import bin_distances
from benchwright.statistics.nearest_neighbours import neighbours_of
from benchwright.tables.similarity import DistanceDensity

EXACT_UP_TO = 50_000
"""With more items neighbours are approximate, and their recall is measured."""
_RECALL_CHECKED = 200  # items whose exact neighbours measure the recall of the search
_READ = 500  # items whose language is told
_KNOWN = 0.1  # probability below which a text is in none of the encoder's languages
_MOST_FOREIGN = 0.1  # share of such texts
_MOST_GROUPED = 0.5  # of the items; English benchmarks have up to .27 (ARC)
_LARGEST_GROUP = 100  # templates of English benchmarks make up to 53 (MMLU's moral scenarios)
_ADVICE = (
    "reported, not removed: take an encoder that tells these items apart, such as the multilingual "
    "intfloat/multilingual-e5-small or sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2 "
    "(docs/how_to/score_models.md), or set `similar.threshold` to a distance"
)


def find_neighbours(
    items: pd.DataFrame, embeddings: pd.DataFrame, filtering: FilteringParams
) -> Neighbourhood:
    """Find the 100 nearest other items of each item that has a vector.

    The search is exact up to 50,000 items, approximate above. There are no
    neighbours when the rule is off.

    Raises:
        InputError: vectors of different lengths (from different encoders).
    """
    similar = filtering.similar
    if not similar.enabled:
        return Neighbourhood.empty()
    return search_neighbours(items, embeddings, similar.k, EXACT_UP_TO)


def check_neighbours(
    items: pd.DataFrame,
    embeddings: pd.DataFrame,
    neighbours: Neighbourhood,
    models: ModelsParams,
    seed: int,
) -> dict[str, Any]:
    """Report the search method, its recall, and whether the encoder knows the items' language.

    Returns:
        `other_language`: the share of items in a language that the encoder was not trained on, in
        words; "" up to 10%, or if its languages are unknown.
        `method`: `exact` or `approximate` (`none` without neighbours). An approximate search also
        has `items_checked`, 200 random items whose exact neighbours are computed; `recall`, the
        mean share of their k nearest that were found.
    """
    n, k = neighbours.indices.shape
    if not n:
        return {"method": "none", "other_language": ""}
    other_language = _other_language(items, embeddings, models)
    if n <= EXACT_UP_TO:
        return {"method": "exact", "other_language": other_language}
    draw = stage_generator(seed, "filtering.neighbour_recall")
    rows = np.sort(draw.choice(n, min(_RECALL_CHECKED, n), replace=False))
    exact = neighbours_of(item_vectors(items, embeddings)[1], rows, k).indices
    pairs = zip(exact, neighbours.indices[rows], strict=True)
    hits = np.array([np.isin(true, found) for true, found in pairs])
    return {
        "other_language": other_language,
        "method": "approximate",
        "items_checked": len(rows),
        "recall": float(hits.mean(axis=1).mean()),
    }


def _other_language(items: pd.DataFrame, embeddings: pd.DataFrame, models: ModelsParams) -> str:
    """Say how many items are in a language that their encoder does not know, or ""."""
    key, _, _ = str(embeddings["encoder"].iloc[0]).rpartition("@")
    encoder = models.encoders.get(key)
    if encoder is None or encoder.languages is None:
        return ""
    rows = np.unique(np.linspace(0, len(items) - 1, _READ).round().astype(int))
    told = [likely for likely in map(likely_languages, items["question"].iloc[rows]) if likely]
    others: Counter[str] = Counter()
    for likely in told:
        if sum(likely.get(code, 0.0) for code in encoder.languages) < _KNOWN:
            others[max(likely, key=likely.__getitem__)] += 1
    if others.total() <= _MOST_FOREIGN * len(told):
        return ""
    share = others.total() / len(told)
    most = max(others, key=others.__getitem__)
    return f"{share:.0%} of the items are in languages that {key} does not know (mostly {most})"


def estimate_threshold(
    items: pd.DataFrame,
    neighbours: Neighbourhood,
    filtering: FilteringParams,
    neighbour_search: dict[str, Any],
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Estimate the density of neighbour distances and take its first peak as the threshold.

    With a single peak the threshold is half of its distance (as in the released code). Items
    within the threshold are counted up to `max_distance`.

    Returns:
        The curve; the threshold with the branch taken and `neighbour_search` (`check_neighbours`).
    """
    params = filtering.similar
    binned = bin_distances(items, neighbours, params)
    density, threshold = thresholds.estimate(binned, params)
    within = int(thresholds.closer_than(neighbours.nearest_distances(), threshold).sum())
    curve = DistanceDensity.empty()
    if density is not None:
        peak = np.isin(density.x, threshold.peaks)
        curve = pd.DataFrame({"x": density.x, "y": density.y, "peak": peak})
    result = {
        "threshold": threshold.value,
        "limit": threshold.limit,
        "branch": threshold.branch,
        "peaks": threshold.peaks,
        "bandwidth": params.bandwidth,
        "k": params.k,
        "items_within": within,
        "share_within": within / len(items),
        "neighbour_search": neighbour_search,
    }
    return curve, result


def group_similar_items(
    items: pd.DataFrame,
    neighbours: Neighbourhood,
    similarity_threshold: dict[str, Any],
    filtering: FilteringParams,
) -> Grouping:
    """Group items closer than the threshold: an item and its close neighbours, each item once.

    In `cliques` all pairs of a group are similar, so a removed item is similar to each that stays.
    Where δ exceeds `max_distance`, only pairs closer than that are grouped; the reason says so.
    Items are processed in order of id. Items whose questions differ only in a symbol are not put
    into the same group. `clusters: components` joins all items that are linked by close pairs.
    Where the encoder does not know the items' language, or groups are implausible, they are only
    reported; a `threshold` that is a distance removes all the same.
    """
    params = filtering.similar
    if not params.enabled:
        return Grouping("similar", "off")
    ids = neighbours.item_ids
    if not len(ids):
        return Grouping("similar", "not_run", f"{len(items)} items have no embeddings")
    limit = similarity_threshold["limit"]
    if limit is None:
        return Grouping("similar", "not_run", "the density of distances has no peak")
    rows, ranks = np.nonzero(neighbours.distances < np.float64(limit))
    others = neighbours.indices[rows, ranks]
    exempt: dict[str, str] = {}
    if params.string_similarity_exempt is not None and len(rows):
        questions = questions_of(items, ids)
        alike = alike_pairs(questions, rows, others, params.string_similarity_exempt)
        for row, other in zip(rows[alike], others[alike], strict=True):
            exempt.setdefault(
                ids[row], f"close to {ids[other]}, but exempt for its similar wording"
            )
        rows = rows[~alike]
        others = others[~alike]
    not_judged = frozenset(items["item_id"]) - frozenset(ids)
    if params.prefiltered:
        exempt |= dict.fromkeys(not_judged, "removed before distances are computed")
    if params.clusters == "components":
        found = _components(len(ids), rows, others)
    else:
        found = _stars(len(ids), rows, others, mutual=params.clusters == "cliques")
    groups = [tuple(map(ids.__getitem__, group)) for group in found]
    doubt = ""
    if params.threshold == "first_peak":
        search = similarity_threshold["neighbour_search"]
        doubt = search.get("other_language") or _too_alike(groups, len(ids))
    return Grouping(
        rule="similar",
        status="ran",
        reason=_reason(doubt, similarity_threshold, any_closer=len(rows) > 0),
        groups=tuple(groups),
        value=dict(zip(ids, neighbours.nearest_distances().tolist(), strict=True)),
        exempt=exempt,
        not_judged=not_judged,
        removes=not doubt,
    )


def _reason(doubt: str, similarity_threshold: dict[str, Any], *, any_closer: bool) -> str:
    reasons = [f"{doubt}; {_ADVICE}"] if doubt else []
    threshold = similarity_threshold["threshold"]
    limit = similarity_threshold["limit"]
    if limit != threshold:
        what = (
            f"only pairs closer than {limit:g} are grouped" if any_closer else "no pair is closer"
        )
        reasons.append(
            f"the distances give δ = {threshold:.3f}, but items more than {limit:g} apart rarely "
            f"ask the same, and {what}"
        )
    search = similarity_threshold["neighbour_search"]
    if search["method"] == "approximate":
        reasons.append(
            f"the search for neighbours was approximate: it found {search['recall']:.1%} of the "
            f"true neighbours of {search['items_checked']} random items"
        )
    return "; ".join(reasons)


def _too_alike(groups: Sequence[Sequence[str]], n: int) -> str:
    """Say why groups among n items are not plausible: too many items, or too large; or ""."""
    grouped = sum(map(len, groups))
    if grouped > _MOST_GROUPED * n:
        return f"{grouped:,} of {n:,} items are similar to another one"
    largest = max(map(len, groups), default=0)
    return f"one group has {largest:,} items" if largest > _LARGEST_GROUP else ""


def _stars(n: int, rows: Places, columns: Integers, mutual: bool) -> Iterator[list[int]]:
    """Yield each item with its close neighbours (`mutual`: close to each other), in order of id."""
    taken = np.zeros(n, dtype=bool)
    starts = np.searchsorted(rows, np.arange(n + 1))
    for centre in np.unique(rows):
        # A centre that is already in a group still gathers neighbours that are in none.
        free = np.concatenate(([centre], columns[starts[centre] : starts[centre + 1]]))
        free = free[~taken[free]]
        group = []
        while len(free):
            first = free[0]
            group.append(first)
            free = free[1:]
            if mutual:
                free = free[np.isin(free, columns[starts[first] : starts[first + 1]])]
        if len(group) > 1:
            taken[group] = True
            yield group


def _components(n: int, rows: Places, columns: Integers) -> Iterator[list[int]]:
    """Yield items linked by close pairs, directly or through others."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(n, n))
    label = connected_components(links, directed=False)[1]
    linked = np.unique(np.concatenate([rows, columns]))
    for _, group in pd.Series(linked).groupby(label[linked]):
        yield group.tolist()
