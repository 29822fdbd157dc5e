"""The threshold by number of neighbours equals that of separate runs of the rule."""

import numpy as np
import pytest

from benchwright.methods.smart.similar import estimate_threshold, find_neighbours
from benchwright.params.filtering import FilteringParams, SimilarParams
from methods.smart.filtering_examples import make_embeddings, make_items, numbered_items

N = 120
DRAWS = np.random.default_rng(5)
CENTRES = DRAWS.normal(size=(30, 8))
VECTORS = np.repeat(CENTRES, 4, axis=0) + 0.15 * DRAWS.normal(size=(N, 8))
# Every fourth question is a variant of the one before it, so some neighbours are skipped.
ITEMS = make_items(
    [f"{'abcdefghijklmnopqrstuvwxyz'[(row - row % 2) % 26] * 12} {row}" for row in range(N)]
)


def estimate(vectors, items=ITEMS, **similar: object):
    filtering = FilteringParams(similar=SimilarParams(**similar))
    near = find_neighbours(items, make_embeddings(vectors), filtering)
    return estimate_threshold(items, near, filtering, {"method": "exact"})


@pytest.mark.parametrize(
    "similar",
    [{}, {"string_similarity_exempt": None}, {"halve_single_peak": False}, {"threshold": 0.1}],
)
def test_each_row_equals_the_rule_with_that_many_neighbours(similar):
    *_, table = estimate(VECTORS, k=60, **similar)
    assert table["k"].tolist() == [5, 10, 25, 50]
    for row in table.to_dict("records"):
        expected = estimate(VECTORS, k=row["k"], **similar)[1]
        assert row["threshold"] == pytest.approx(expected["threshold"], rel=1e-12)
        assert row["branch"] == expected["branch"]
        assert row["peaks"] == len(expected["peaks"])
        assert row["items_within"] == expected["items_within"]
        assert row["share_within"] == pytest.approx(expected["share_within"])


def test_impossible_numbers_of_neighbours_are_omitted():
    assert estimate(VECTORS[:11], numbered_items(11))[2]["k"].tolist() == [5, 10]
    assert estimate(VECTORS[:10], numbered_items(10))[2]["k"].tolist() == [5]
    assert estimate(VECTORS[:1])[2].empty
    assert estimate(VECTORS, enabled=False)[2].empty
