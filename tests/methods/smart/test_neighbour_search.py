"""Above `exact_up_to` items the search is approximate, checked on a sample and reported."""

import numpy as np
import pandas as pd
import pytest

from benchwright.methods.smart.audit import measure_coverage
from benchwright.methods.smart.combine import combine_rules
from benchwright.methods.smart.duplicates import find_copies
from benchwright.methods.smart.similar import (
    check_neighbours,
    estimate_threshold,
    find_neighbours,
    group_similar_items,
)
from benchwright.params.filtering import FilteringParams, SimilarParams
from benchwright.similarity.neighbourhood import item_vectors
from methods.smart.filtering_examples import make_embeddings, numbered_items

pytest.importorskip("faiss")

N = 900
DRAW = np.random.default_rng(5)
VECTORS = np.repeat(DRAW.normal(size=(90, 12)), 10, axis=0) + 0.3 * DRAW.normal(size=(N, 12))
ITEMS, EMBEDDINGS = numbered_items(N), make_embeddings(VECTORS)


def params(**similar: object) -> FilteringParams:
    plain = {"k": 20, "string_similarity_exempt": None}
    return FilteringParams(similar=SimilarParams(**{**plain, **similar}))


def test_search_is_exact_up_to_the_limit():
    exact = find_neighbours(ITEMS, EMBEDDINGS, params(exact_up_to=N))
    assert check_neighbours(ITEMS, EMBEDDINGS, exact, params(exact_up_to=N), 0) == {
        "method": "exact"
    }
    some = params(exact_up_to=N - 1)
    neighbours = find_neighbours(ITEMS, EMBEDDINGS, some)
    check = check_neighbours(ITEMS, EMBEDDINGS, neighbours, some, 0)
    assert check["method"] == "approximate"
    assert check["items_checked"] == 200
    pairs = set(zip(exact["item_id"], exact["neighbour"], strict=True))
    overall = len(
        pairs & set(zip(neighbours["item_id"], neighbours["neighbour"], strict=True))
    ) / len(pairs)
    assert check["recall"] == pytest.approx(overall, abs=0.03)
    assert check["lowest_recall"] <= check["recall"] <= 1


def test_recall_is_the_share_of_true_neighbours_in_the_table():
    filtering = params(exact_up_to=0)
    exact = find_neighbours(ITEMS, EMBEDDINGS, params(exact_up_to=N))
    assert check_neighbours(ITEMS, EMBEDDINGS, exact, filtering, 0)["recall"] == 1
    rank = exact.groupby("item_id").cumcount()
    # The nearest five of each are replaced by the item's farthest one.
    without = exact.copy()
    last = exact.groupby("item_id")["neighbour"].transform("last")
    without.loc[rank < 5, "neighbour"] = last[rank < 5]
    check = check_neighbours(ITEMS, EMBEDDINGS, without, filtering, 0)
    assert check["recall"] == pytest.approx(15 / 20)
    assert check["lowest_recall"] == pytest.approx(15 / 20)
    assert check["nearest_found"] == 0


def test_results_do_not_depend_on_row_order():
    filtering = params(exact_up_to=0)
    neighbours = find_neighbours(ITEMS, EMBEDDINGS, filtering)
    mixed = EMBEDDINGS.sample(frac=1, random_state=1)
    again = find_neighbours(ITEMS.sample(frac=1, random_state=2), mixed, filtering)
    pd.testing.assert_frame_equal(neighbours, again)
    assert check_neighbours(ITEMS, EMBEDDINGS, neighbours, filtering, 3) == check_neighbours(
        ITEMS, mixed, neighbours, filtering, 3
    )


def test_threshold_and_coverage_report_the_approximate_search():
    filtering = params(exact_up_to=0, threshold=0.05)
    neighbours = find_neighbours(ITEMS, EMBEDDINGS, filtering)
    search = check_neighbours(ITEMS, EMBEDDINGS, neighbours, filtering, 0)
    _, threshold, _ = estimate_threshold(ITEMS, neighbours, filtering, search)
    assert threshold["neighbour_search"] == search
    similar = group_similar_items(ITEMS, neighbours, threshold, filtering)
    findings, _ = combine_rules(
        ITEMS,
        find_copies(ITEMS, filtering),
        similar,
        filtering,
        0,
    )
    rule = measure_coverage(findings).set_index("rule").loc["similar"]
    assert rule["status"] == "ran"
    assert "approximate" in rule["reason"]
    assert f"{search['recall']:.1%} of the true neighbours" in rule["reason"]


def test_no_neighbours_are_not_checked():
    none = EMBEDDINGS.iloc[:0]
    neighbours = find_neighbours(ITEMS, none, params())
    assert check_neighbours(ITEMS, none, neighbours, params(), 0) == {"method": "none"}


def test_vectors_from_a_file_sorted_by_id_are_not_copied(tmp_path):
    table = EMBEDDINGS.iloc[:10].assign(vector=[row.astype(np.float32) for row in VECTORS[:10]])
    table.to_parquet(tmp_path / "t.parquet")
    read = pd.read_parquet(tmp_path / "t.parquet")
    ids, vectors = item_vectors(ITEMS, read)
    assert ids == [f"q/{row}" for row in range(10)]
    assert np.array_equal(vectors, VECTORS[:10].astype(np.float32))
    assert np.shares_memory(vectors, read["vector"][0])
    part = item_vectors(ITEMS, read.iloc[3:7])[1]
    assert np.array_equal(part, VECTORS[3:7].astype(np.float32))
    assert np.shares_memory(part, read["vector"][3])
    gaps = item_vectors(ITEMS, read.iloc[::2])[1]
    assert np.array_equal(gaps, VECTORS[:10:2].astype(np.float32))
    backwards = item_vectors(ITEMS, read.iloc[::-1])[1]
    assert np.array_equal(backwards, VECTORS[:10].astype(np.float32))
