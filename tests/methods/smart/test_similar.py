"""Similar items: neighbours, threshold and groups."""

import hashlib

import numpy as np
import pandas as pd
import pytest

from benchwright.core.neighbourhood import Neighbourhood
from benchwright.methods.smart.combine import combine_rules
from benchwright.methods.smart.duplicates import find_copies
from benchwright.methods.smart.finding import Grouping
from benchwright.methods.smart.similar import (
    estimate_threshold,
    find_neighbours,
    group_similar_items,
)
from benchwright.params.filtering import FilteringParams, SimilarParams
from benchwright.tables.similarity import Neighbours
from methods.smart.filtering_examples import (
    make_embeddings,
    make_items,
    numbered_items,
)

# Six directions in a plane, in degrees: 0, 10 and 20 are close, so are 90 and 100; 200 is alone.
ANGLES = np.deg2rad([0, 10, 20, 90, 100, 200])
VECTORS = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
WORDS = ["amber", "bottle", "cloud", "dragon", "engine", "flute"]
EXACT = {"method": "exact"}
FOUND = {"threshold": 0.1, "limit": 0.1, "neighbour_search": EXACT}


def params(**similar: object) -> FilteringParams:
    return FilteringParams(similar=SimilarParams(**similar))


def groups(threshold: float, questions=WORDS, **similar: object):
    items = make_items(list(questions))
    filtering = params(k=5, **similar)
    neighbours = find_neighbours(items, make_embeddings(VECTORS), filtering)
    found = FOUND | {"threshold": threshold, "limit": threshold}
    return group_similar_items(items, neighbours, found, filtering).groups


def degrees(angle: float) -> float:
    """Cosine distance of two directions."""
    return float(1 - np.cos(np.deg2rad(angle)))


def test_neighbours_are_other_items_nearest_first():
    items = make_items(WORDS)
    table = find_neighbours(items, make_embeddings(VECTORS), params(k=2)).table()
    Neighbours.of(table)
    of_second = table[table["item_id"] == "q/1"]
    assert of_second["neighbour"].tolist() == ["q/0", "q/2"]
    assert of_second["distance"].tolist() == pytest.approx([degrees(10)] * 2, abs=1e-5)


def test_cliques_are_items_close_to_each_other_and_are_disjoint():
    # From 0 the threshold of 15 degrees includes 10 but not 20, which stays single.
    assert groups(degrees(15)) == (("q/0", "q/1"), ("q/3", "q/4"))
    assert groups(degrees(25)) == (("q/0", "q/1", "q/2"), ("q/3", "q/4"))


def test_components_join_indirectly_linked_items():
    components = groups(degrees(15), clusters="components")
    assert components == (("q/0", "q/1", "q/2"), ("q/3", "q/4"))


def test_questions_that_differ_by_one_symbol_are_exempt():
    questions = ["What is 12 + 30?", "What is 12 - 30?", *WORDS[2:]]
    assert groups(degrees(15), questions) == (("q/1", "q/2"), ("q/3", "q/4"))
    everything = groups(degrees(15), questions, string_similarity_exempt=None)
    assert everything == (("q/0", "q/1"), ("q/3", "q/4"))


def test_exempt_pairs_share_no_group():
    # 0 and 10 degrees are both close to 20 degrees, but exempt from each other.
    alike = ["What is 12 + 30?", "What is 12 - 30?"]
    assert groups(degrees(25), [*alike, *WORDS[2:]]) == (("q/0", "q/2"), ("q/3", "q/4"))
    centre_first = [WORDS[2], *alike, *WORDS[3:]]
    assert groups(degrees(25), centre_first) == (("q/0", "q/1"), ("q/3", "q/4"))
    # The released code joins whatever is close to the first.
    stars = groups(degrees(25), centre_first, clusters="stars")
    assert stars == (("q/0", "q/1", "q/2"), ("q/3", "q/4"))


def test_exempt_item_names_the_item_that_it_is_close_to():
    items = make_items(["What is 12 + 30?", "What is 12 - 30?", *WORDS[2:]])
    neighbours = find_neighbours(items, make_embeddings(VECTORS), params(k=5))
    threshold = FOUND | {"threshold": degrees(15), "limit": degrees(15)}
    grouping = group_similar_items(items, neighbours, threshold, params(k=5))
    assert grouping.exempt["q/0"] == "close to q/1, but exempt for its similar wording"
    assert set(grouping.exempt) == {"q/0", "q/1"}


def test_pair_at_the_threshold_is_not_similar():
    items = make_items(WORDS)
    table = find_neighbours(items, make_embeddings(VECTORS), params(k=5)).table()
    pair = table[(table["item_id"] == "q/3") & (table["neighbour"] == "q/4")]
    exact = float(pair["distance"].iloc[0])
    assert ("q/3", "q/4") not in groups(exact)
    assert ("q/3", "q/4") in groups(np.nextafter(exact, 1))


def distances_table(distances: np.ndarray) -> tuple[pd.DataFrame, Neighbourhood]:
    """Items with one neighbour each, at the given distances."""
    n = len(distances)
    items = numbered_items(n)
    ids = items["item_id"]
    neighbours = pd.DataFrame(
        {"item_id": ids, "neighbour": np.roll(ids, 1), "distance": np.sort(distances)}
    )
    return items, Neighbourhood.of(neighbours)


NO_STRINGS = {"string_similarity_exempt": None}
ONE_PEAK = np.random.default_rng(0).normal(0.6, 0.05, 2000)
TWO_PEAKS = np.concatenate([np.random.default_rng(1).normal(0.1, 0.01, 300), ONE_PEAK])


@pytest.mark.parametrize(
    ("distances", "similar", "branch", "threshold", "peaks"),
    [
        (TWO_PEAKS, {}, "first_peak", 0.1, 2),
        (ONE_PEAK, {"bandwidth": 0.4, "max_distance": None}, "halved", 0.3, 1),
        (
            ONE_PEAK,
            {"bandwidth": 0.4, "halve_single_peak": False, "max_distance": None},
            "first_peak",
            0.6,
            1,
        ),
        (ONE_PEAK, {"bandwidth": 0.4, "threshold": 0.25}, "fixed", 0.25, 1),
    ],
)
def test_branch_is_reported_with_the_threshold(distances, similar, branch, threshold, peaks):
    items, neighbours = distances_table(distances)
    settings = params(**NO_STRINGS, **similar)
    curve, result = estimate_threshold(items, neighbours, settings, EXACT)
    assert result["branch"] == branch
    assert result["threshold"] == pytest.approx(threshold, abs=0.02)
    assert len(result["peaks"]) == peaks == curve["peak"].sum()
    assert result["items_within"] == (neighbours.distances < np.float64(result["threshold"])).sum()
    if branch != "fixed":
        # One grid point below the peak, as the published metrics have it.
        below = curve["x"][curve["peak"].idxmax() - 1]
        assert result["threshold"] == (below / 2 if branch == "halved" else below)


@pytest.mark.parametrize(
    ("similar", "threshold", "limit"),
    [
        ({}, 0.6, 0.2),
        ({"max_distance": 0.5}, 0.6, 0.5),
        ({"max_distance": 0.7}, 0.6, 0.6),
        ({"max_distance": None}, 0.6, 0.6),
        ({"threshold": 0.55}, 0.55, 0.55),  # set by the user: not bounded
    ],
)
def test_largest_distance_bounds_what_is_removed_but_not_the_threshold(similar, threshold, limit):
    items, neighbours = distances_table(ONE_PEAK)
    settings = params(**NO_STRINGS, bandwidth=0.4, halve_single_peak=False, **similar)
    _, result = estimate_threshold(items, neighbours, settings, EXACT)
    assert result["threshold"] == pytest.approx(threshold, abs=0.02)
    assert result["limit"] == pytest.approx(limit, abs=0.02)
    assert result["items_within"] == (result["limit"] > ONE_PEAK).sum()


def random_items(n: int, close: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Items at random directions, about 0.6 apart; the first `close` ones are 0.1 apart."""
    vectors = np.random.default_rng(0).normal(size=(n, 384)) + 0.8
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for row in range(1, close):
        other = vectors[row] - (vectors[row] @ vectors[0]) * vectors[0]
        vectors[row] = 0.9 * vectors[0] + np.sqrt(1 - 0.9**2) * other / np.linalg.norm(other)
    questions = [hashlib.sha256(bytes([row])).hexdigest() for row in range(n)]
    return make_items(questions), make_embeddings(vectors)


def grouped(items: pd.DataFrame, embeddings: pd.DataFrame, **similar: object) -> Grouping:
    filtering = params(**similar)
    neighbours = find_neighbours(items, embeddings, filtering)
    result = estimate_threshold(items, neighbours, filtering, EXACT)[1]
    return group_similar_items(items, neighbours, result, filtering)


def test_twenty_unrelated_items_all_stay_and_the_reason_is_given():
    unrelated = random_items(20)
    found = grouped(*unrelated)
    assert (found.status, found.groups) == ("ran", ())
    assert "items more than 0.2 apart rarely ask the same, and no pair is closer" in found.reason
    alike = grouped(*random_items(20, close=2))
    assert alike.groups == (("q/0", "q/1"),)
    assert "only pairs closer than 0.2 are grouped" in alike.reason
    # The threshold of the paper lies among the distances of any benchmark, alike or not.
    assert grouped(*unrelated, max_distance=None).groups


def test_without_a_peak_the_rule_does_not_run():
    items, neighbours = distances_table(np.full(5, 0.5))
    result = estimate_threshold(items, neighbours, params(), EXACT)[1]
    assert (result["threshold"], result["limit"], result["branch"]) == (None, None, "none")
    assert group_similar_items(items, neighbours, result, params()).status == "not_run"


def test_rule_needs_vectors_and_items_without_one_are_not_assessed():
    items = make_items(WORDS)
    none = find_neighbours(items, make_embeddings([]), params())
    assert group_similar_items(items, none, FOUND, params()).status == "not_run"
    some = find_neighbours(items, make_embeddings(VECTORS[:4]), params())
    similar = group_similar_items(items, some, FOUND, params())
    assert similar.not_judged == {"q/4", "q/5"}


def ring(n: int, sizes: list[int]) -> tuple[pd.DataFrame, Neighbourhood]:
    """Items around a circle: the first ones in bunches of these sizes, the others far apart."""
    places = [bunch + i / 10_000 for bunch, size in enumerate(sizes) for i in range(size)]
    places += [len(sizes) + i for i in range(n - len(places))]
    angles = 2 * np.pi * np.array(places) / (2 * n)
    items = make_items([hashlib.sha256(str(i).encode()).hexdigest() for i in range(n)])
    vectors = make_embeddings(np.stack([np.cos(angles), np.sin(angles)], axis=1))
    return items, find_neighbours(items, vectors, params(k=n - 1))


@pytest.mark.parametrize(
    ("sizes", "search", "threshold", "reason"),
    [
        ([2] * 25, {}, "first_peak", ""),  # half of the items is the bound
        ([2] * 26, {}, "first_peak", "52 of 100 items are similar to another one; reported"),
        ([100], {}, "first_peak", ""),
        (
            [101],
            {},
            "first_peak",
            "one group has 101 items; reported, not removed: take an encoder",
        ),
        ([101], {}, 1e-5, ""),  # set by hand
        ([2], {"other_language": "39% are Chinese"}, "first_peak", "39% are Chinese; reported"),
        ([2], {"other_language": "39% are Chinese"}, 1e-5, ""),
    ],
)
def test_implausible_groups_are_reported_and_not_removed(sizes, search, threshold, reason):
    n = 300 if len(sizes) == 1 else 100
    items, neighbours = ring(n, sizes)
    found = {"threshold": 1e-5, "limit": 1e-5, "neighbour_search": EXACT | search}
    filtering = params(threshold=threshold, k=n - 1)
    grouping = group_similar_items(items, neighbours, found, filtering)
    assert [len(group) for group in grouping.groups] == sizes
    assert grouping.removes == (not reason)
    assert grouping.reason.startswith(reason)
    copies = find_copies(items, filtering)
    findings, groups_table = combine_rules(items, copies, grouping, filtering, 0)
    similar = {finding.rule: finding for finding in findings}["similar"]
    assert similar.flagged.sum() == sum(sizes)
    assert similar.removed.sum() == (0 if reason else sum(size // 2 for size in sizes))
    assert groups_table["kept"].all() == bool(reason)
