"""Comparison of encoders: cached vectors and agreement of verdicts."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.core.errors import InputError
from benchwright.language_models import weights
from benchwright.params.filtering import FilteringParams, SimilarParams
from benchwright.params.scoring import EmbeddingParams, ModelsParams
from benchwright.similarity import vectors as vectors_module
from benchwright.similarity.encoder_overlap import compare_encoders
from benchwright.similarity.item_vectors import encode_with_each
from benchwright.tables.similarity import Embeddings
from methods.smart.filtering_examples import make_items, numbered_items

NAMES = ("one", "two", "three")
MODELS = ModelsParams.model_validate(
    {
        "encoders": {
            name: {"weights": {"path": name, "sha256": f"{i}" * 64}} for i, name in enumerate(NAMES)
        }
    }
)
NOTHING = Embeddings.empty()


def embedding(*compare: str) -> EmbeddingParams:
    return EmbeddingParams(compare=compare, dtype="float32", device="cpu")


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Texts that each stand-in encoder received; vector lengths differ by encoder."""
    seen: list[tuple[str, str]] = []

    def stand_in(texts: list[str], folder: str, **_: object) -> Any:
        seen.extend((folder, text.splitlines()[0]) for text in texts)
        return np.array([[len(text)] + [1] * NAMES.index(folder) for text in texts], np.float32)

    monkeypatch.setattr(vectors_module, "encode", stand_in)
    monkeypatch.setattr(weights, "locate_encoder", lambda spec: spec.path)
    return seen


def test_each_encoder_encodes_every_item_once(encoded: list[Any]) -> None:
    items = make_items(["a", "b"])
    first = encode_with_each(items, NOTHING, NOTHING, embedding("one", "two"), MODELS)
    assert sorted(encoded) == [("one", "a"), ("one", "b"), ("two", "a"), ("two", "b")]
    assert len(first) == 4
    again = encode_with_each(items, first, NOTHING, embedding("one", "two"), MODELS)
    assert len(encoded) == 4
    pd.testing.assert_frame_equal(again, first)


def test_only_new_encoders_and_items_are_encoded(encoded: list[Any]) -> None:
    items = make_items(["a", "b"])
    first = encode_with_each(items, NOTHING, NOTHING, embedding("one", "two"), MODELS)
    encoded.clear()
    other = encode_with_each(items, first, NOTHING, embedding("one", "three"), MODELS)
    assert sorted(encoded) == [("three", "a"), ("three", "b")]
    assert len(other) == 6  # encoders that are not compared stay in the cache
    encoded.clear()
    more = make_items(["a", "b", "c"])
    encode_with_each(more, other, NOTHING, embedding(*NAMES), MODELS)
    assert sorted(encoded) == [("one", "c"), ("three", "c"), ("two", "c")]


def test_unknown_encoder_fails_before_encoding(encoded: list[Any]) -> None:
    with pytest.raises(InputError, match="unknown encoder 'four'"):
        encode_with_each(make_items(["a"]), NOTHING, NOTHING, embedding("one", "four"), MODELS)
    assert encoded == []


def vectors_of(encoder: str, vectors: Any) -> pd.DataFrame:
    key = vectors_module.choose_encoder(encoder, embedding(encoder), MODELS).key
    return pd.DataFrame(
        {
            "item_id": [f"q/{row}" for row in range(len(vectors))],
            "text_hash": "",
            "encoder": key,
            "vector": list(np.asarray(vectors, dtype=np.float32)),
        }
    )


def plane(*angles: float) -> Any:
    radians = np.deg2rad(angles)
    return np.stack([np.cos(radians), np.sin(radians)], axis=1)


def fixed(threshold: Any) -> FilteringParams:
    return FilteringParams(similar=SimilarParams(threshold=threshold))


def test_table_counts_items_with_a_neighbour_below_the_threshold() -> None:
    # Within 15 degrees of another: 0, 1 and 2, 3 for the one; 0, 1 and 4 (of 1) for the other.
    first = vectors_of("one", plane(0, 10, 90, 100, 200, 300))
    second = vectors_of("two", plane(0, 10, 90, 140, 20, 300))
    table = compare_encoders(
        numbered_items(6),
        pd.concat([first, second]),
        embedding("one", "two"),
        MODELS,
        fixed(1 - float(np.cos(np.deg2rad(15)))),
    )
    [row] = table.to_dict("records")
    assert (row["encoder_a"], row["encoder_b"], row["n_items"]) == ("one", "two", 6)
    assert (row["similar_a"], row["similar_b"], row["both"]) == (4, 3, 2)
    assert row["jaccard"] == pytest.approx(2 / 5)
    assert row["same_verdict"] == pytest.approx(3 / 6)
    assert row["expected_same"] == pytest.approx(4 / 6 * 3 / 6 + 2 / 6 * 3 / 6)


def test_encoder_without_threshold_has_no_shares() -> None:
    vectors = pd.concat([vectors_of("one", np.eye(5)), vectors_of("two", np.eye(5))])
    settings = fixed("first_peak")  # all distances are equal: no density, no peak
    table = compare_encoders(numbered_items(5), vectors, embedding("one", "two"), MODELS, settings)
    assert table[["threshold_a", "jaccard", "same_verdict"]].isna().all(axis=None)
    assert table["similar_a"].tolist() == [0]


def test_without_similar_items_verdicts_agree_and_jaccard_is_missing() -> None:
    vectors = pd.concat([vectors_of(name, plane(0, 90, 180)) for name in ("one", "two")])
    table = compare_encoders(
        numbered_items(3), vectors, embedding("one", "two"), MODELS, fixed(0.1)
    )
    [row] = table.to_dict("records")
    assert (row["both"], row["same_verdict"], row["expected_same"]) == (0, 1.0, 1.0)
    assert np.isnan(row["jaccard"])


def test_encoder_names_may_be_comma_separated_and_count_once() -> None:
    joined = EmbeddingParams.model_validate({"compare": "one+two"})
    assert joined.compare == ("one", "two")
    with pytest.raises(ValueError, match="more than once"):
        EmbeddingParams(compare=("one", "one"))
