"""Item vectors from sentence encoders and language models, and their reuse."""

from typing import Any

import numpy as np
import pytest

from benchwright.core.errors import InputError
from benchwright.language_models import weights
from benchwright.language_models.weights import ModelSource
from benchwright.params.scoring import EmbeddingParams, ModelsParams
from benchwright.similarity import vectors as vectors_module
from benchwright.similarity.vectors import choose_encoder, encode_items
from benchwright.tables.similarity import Embeddings
from methods.smart.filtering_examples import make_items

SERVER = {"backend": "openai", "endpoint": {"url": "http://localhost:1/v1"}, "family": "f"}
MODELS = ModelsParams.model_validate(
    {
        "models": {
            "local": {
                "weights": {"path": "local", "sha256": "1" * 64},
                "family": "f",
                "context": 99,
            },
            "fixed": {
                "weights": {"path": "fixed", "sha256": "2" * 64},
                "family": "f",
                "dtype": "bfloat16",
                "context": 99,
            },
            "served": SERVER,
        },
        "encoders": {
            "sentences": {"weights": {"path": "tiny", "sha256": "0" * 64}},
            "last": {"model": "local", "pooling": "last_token"},
            "mean": {"model": "local", "pooling": "mean"},
            "fixed-mean": {"model": "fixed", "pooling": "mean"},
            "far": {"model": "served", "pooling": "mean"},
            "lost": {"model": "nobody", "pooling": "mean"},
        },
    }
)
HERE = EmbeddingParams(dtype="float32", device="cpu")
NOTHING = Embeddings.empty()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Calls to the stand-in for hidden states."""
    seen: list[dict[str, Any]] = []

    def stand_in(texts: list[str], source: ModelSource, pooling: str, **more: Any) -> Any:
        seen.append({"texts": texts, "source": source, "pooling": pooling, **more})
        return np.array([[len(text), len(pooling)] for text in texts], dtype=np.float32)

    monkeypatch.setattr(vectors_module, "encode_states", stand_in)
    monkeypatch.setattr(weights, "model_source", lambda spec, dtype: ModelSource(spec.path))
    return seen


def test_language_model_encodes_with_its_context_and_pooling(asked: list[Any]) -> None:
    table = encode_items(make_items(["one"]), NOTHING, "last", HERE, MODELS)
    Embeddings.validate(table)
    [call] = asked
    assert call["source"].name_or_path == "local"
    assert (call["pooling"], call["context"], call["dtype"]) == ("last_token", 99, "float32")
    assert table["encoder"].tolist() == [f"last@{'1' * 16}/last_token/float32"]


def test_vectors_of_a_different_pooling_are_not_reused(asked: list[Any]) -> None:
    items = make_items(["one", "two"])
    last = encode_items(items, NOTHING, "last", HERE, MODELS)
    assert encode_items(items, last, "last", HERE, MODELS).equals(last)
    assert len(asked) == 1
    encode_items(items, last, "mean", HERE, MODELS)
    assert [call["pooling"] for call in asked] == ["last_token", "mean"]


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        ("none", "unknown encoder 'none'; expected one of far, fixed-mean"),
        ("lost", "model 'nobody' is not known; expected one of fixed, local, served"),
        ("far", "models.encoders.far: model 'served' has no weights here"),
    ],
)
def test_encoder_that_cannot_run_names_the_reason(encoder: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        choose_encoder(encoder, HERE, MODELS)
    assert "\n" not in str(error.value)
