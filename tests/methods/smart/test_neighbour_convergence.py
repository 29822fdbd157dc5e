"""The threshold by number of neighbours equals that of separate runs of the rule."""

import numpy as np
import pytest

from benchwright.methods.smart.similar import estimate_threshold, find_neighbours
from benchwright.params.filtering import FilteringParams, SimilarParams
from benchwright.tables.smart import DensityByK, NeighbourConvergence
from methods.smart.filtering_examples import find_near, make_embeddings, make_items, numbered_items

N = 120
DRAWS = np.random.default_rng(5)
CENTRES = DRAWS.normal(size=(30, 8))
VECTORS = np.repeat(CENTRES, 4, axis=0) + 0.15 * DRAWS.normal(size=(N, 8))
# Every fourth question is a variant of the one before it, so some neighbours are skipped.
QUESTIONS = [f"{'abcdefghijklmnopqrstuvwxyz'[(row - row % 2) % 26] * 12} {row}" for row in range(N)]
ITEMS = make_items(QUESTIONS)


def vary_neighbour_count(items, embeddings, filtering):
    return find_neighbours(items, embeddings, filtering, 0)[2:]


def params(**similar: object) -> FilteringParams:
    return FilteringParams(similar=SimilarParams(**similar))


@pytest.mark.parametrize(
    "similar",
    [{}, {"string_similarity_exempt": None}, {"halve_single_peak": False}, {"threshold": 0.1}],
)
def test_each_row_equals_the_rule_with_that_many_neighbours(similar):
    embeddings = make_embeddings(VECTORS)
    table, curves = vary_neighbour_count(
        ITEMS, embeddings, params(convergence_k=(1, 3, 10, 60), **similar)
    )
    NeighbourConvergence.validate(table)
    DensityByK.validate(curves)
    assert table["k"].tolist() == [1, 3, 10, 60]
    for row in table.to_dict("records"):
        alone = params(k=row["k"], **similar)
        neighbours = find_near(ITEMS, embeddings, alone)
        _, expected, _ = estimate_threshold(ITEMS, neighbours, alone)
        assert row["threshold"] == pytest.approx(expected["threshold"], rel=1e-12)
        assert row["branch"] == expected["branch"]
        assert row["peaks"] == len(expected["peaks"])
        assert row["items_within"] == expected["items_within"]
        assert row["share_within"] == pytest.approx(expected["share_within"])


def test_impossible_numbers_of_neighbours_are_omitted():
    few, _ = vary_neighbour_count(
        numbered_items(10), make_embeddings(VECTORS[:10]), params(convergence_k=(3, 9, 10, 50))
    )
    assert few["k"].tolist() == [3, 9]


def test_curves_are_thinned_and_keep_their_ends():
    embeddings = make_embeddings(VECTORS)
    _, curves = vary_neighbour_count(ITEMS, embeddings, params(convergence_k=(5, 50)))
    assert curves.groupby("k").size().max() <= 200
    near = find_near(ITEMS, embeddings, params(k=50, string_similarity_exempt=None))
    _, plain = vary_neighbour_count(
        ITEMS, embeddings, params(convergence_k=(50,), string_similarity_exempt=None)
    )
    assert plain["x"].iloc[0] == pytest.approx(near.distances.min())
    assert plain["x"].iloc[-1] == pytest.approx(near.distances.max())


def test_coarse_grid_gives_distinct_points():
    _, curves = vary_neighbour_count(
        ITEMS, make_embeddings(VECTORS), params(convergence_k=(5,), grid=50)
    )
    assert len(curves) == 50
    assert curves["x"].is_unique


def test_without_vectors_or_the_rule_both_tables_are_empty():
    for embeddings, filtering in (
        (make_embeddings([]), params()),
        (make_embeddings(VECTORS[:1]), params()),
        (make_embeddings(VECTORS), params(enabled=False)),
        (make_embeddings(VECTORS), params(convergence_k=(500,))),
        (make_embeddings(VECTORS), params(convergence_k=())),
    ):
        table, curves = vary_neighbour_count(ITEMS, embeddings, filtering)
        assert table.empty
        assert curves.empty


def test_equal_distances_have_no_peak_or_curve():
    corners = make_embeddings(np.eye(6))
    table, curves = vary_neighbour_count(numbered_items(6), corners, params(convergence_k=(2, 5)))
    assert table["branch"].tolist() == ["none", "none"]
    assert table["threshold"].isna().all()
    assert table["items_within"].tolist() == [0, 0]
    assert curves.empty
