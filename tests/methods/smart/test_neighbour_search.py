"""Above a number of items the search is approximate, checked on a sample and reported."""

import numpy as np
import pytest

from benchwright.core.neighbourhood import Neighbourhood
from benchwright.datasets import neighbour_table
from benchwright.datasets.neighbour_table import NeighbourTable
from benchwright.methods.smart import similar as similar_rule
from benchwright.methods.smart.similar import (
    check_neighbours,
    find_neighbours,
)
from benchwright.params.filtering import FilteringParams, SimilarParams
from benchwright.params.scoring import ModelsParams
from benchwright.tables.similarity import Neighbours
from methods.smart.filtering_examples import make_embeddings, make_items, numbered_items

N = 900
DRAW = np.random.default_rng(5)
VECTORS = np.repeat(DRAW.normal(size=(90, 12)), 10, axis=0) + 0.3 * DRAW.normal(size=(N, 12))
ITEMS, EMBEDDINGS = numbered_items(N), make_embeddings(VECTORS)


def params(**similar: object) -> FilteringParams:
    plain = {"k": 20, "string_similarity_exempt": None}
    return FilteringParams(similar=SimilarParams(**{**plain, **similar}))


@pytest.mark.parametrize(("limit", "method"), [(N, "exact"), (N - 1, "approximate")])
def test_search_is_exact_up_to_the_limit_and_checked_above(limit: int, method: str, monkeypatch):
    filtering = params()
    exact = find_neighbours(ITEMS, EMBEDDINGS, filtering)
    monkeypatch.setattr(similar_rule, "EXACT_UP_TO", limit)
    near = find_neighbours(ITEMS, EMBEDDINGS, filtering)
    check = check_neighbours(ITEMS, EMBEDDINGS, near, ModelsParams(), 0)
    assert check["method"] == method
    if method == "approximate":
        shares = [np.isin(a, b).mean() for a, b in zip(exact.indices, near.indices, strict=True)]
        assert check["items_checked"] == 200
        assert check["recall"] == pytest.approx(np.mean(shares), abs=0.03)


def test_recall_is_the_share_of_true_neighbours(monkeypatch):
    exact = find_neighbours(ITEMS, EMBEDDINGS, params())
    without = exact.indices.copy()
    without[:, :5] = exact.indices[:, -1:]  # the nearest five are replaced by the farthest one
    monkeypatch.setattr(similar_rule, "EXACT_UP_TO", 0)
    found = exact._replace(indices=without)
    seen = check_neighbours(ITEMS, EMBEDDINGS, found, ModelsParams(), 0)
    assert seen["recall"] == 0.75


def test_neighbours_are_the_same_after_saving(tmp_path, monkeypatch):
    monkeypatch.setattr(neighbour_table, "_CELLS_PER_GROUP", 70 * 20)
    near = find_neighbours(ITEMS, EMBEDDINGS, params())
    dataset = NeighbourTable(filepath=str(tmp_path / "n.parquet"))
    dataset.save(near)
    read = dataset.load()
    assert list(read.item_ids) == list(near.item_ids)
    assert (read.indices == near.indices).all()
    assert (read.distances == near.distances).all()
    again = Neighbourhood.of(Neighbours.of(near.table()).sample(frac=1, random_state=0))
    assert (again.indices == near.indices).all()
    dataset.save(Neighbourhood.empty())
    assert len(dataset.load().item_ids) == 0


def test_no_neighbours_are_not_checked():
    neighbours = find_neighbours(ITEMS, EMBEDDINGS.iloc[:0], params())
    assert len(neighbours.item_ids) == 0
    check = check_neighbours(ITEMS, EMBEDDINGS, neighbours, ModelsParams(), 0)
    assert check == {"method": "none", "other_language": ""}


CHINESE = "下列关于反补贴调查的哪项判断是正确的？请选出一项"
GERMAN = "Wie nennt man die Hauptstadt des Landes, das im Süden liegt?"


@pytest.mark.parametrize(
    ("languages", "texts", "said"),
    [
        (("en",), [CHINESE] * 9 + [GERMAN], "100% of the items are in languages that own does not"),
        (("en",), [CHINESE, GERMAN] + ["Which of these is the largest of all?"] * 8, "20% of the"),
        (("en",), [GERMAN] + ["Which of these is the largest of all?"] * 9, ""),
        (("en", "zh", "de"), [CHINESE] * 9 + [GERMAN], ""),
        (("en",), ["2 + 2 = ?"] * 10, ""),
        (None, [CHINESE] * 10, ""),
    ],
)
def test_an_encoder_that_does_not_know_the_language_of_many_items_is_named(languages, texts, said):
    weights = {"path": "folder", "sha256": "0" * 64}
    models = {"encoders": {"own": {"weights": weights, "languages": languages}}}
    items = make_items(texts)
    vectors = make_embeddings(VECTORS[:10]).assign(encoder="own@abc/float32")
    near = find_neighbours(items, vectors, params())
    check = check_neighbours(items, vectors, near, ModelsParams.model_validate(models), 0)
    assert check["other_language"].startswith(said)
    assert bool(check["other_language"]) == bool(said)
