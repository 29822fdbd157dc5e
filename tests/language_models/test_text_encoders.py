"""Vectors from hidden states equal those of one text at a time."""

from typing import Any

import numpy as np
import pytest

from benchwright.language_models.text_encoders import (
    batches,
    encode_states,
    rounded_widths,
    token_ids,
)
from benchwright.language_models.weights import ModelSource
from faults.tiny_llama import save_tiny_llama

TEXTS = [
    "Which of these is a fruit?",
    "",
    "A metal is warm because heat moves from warm to cold, or so they say of copper and iron.",
    "Mars",
    "The following are questions about science. " * 4,
    "Which of these is a metal?",
]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> ModelSource:
    """A small Llama with random weights."""
    return ModelSource(str(save_tiny_llama(tmp_path_factory.mktemp("llama"))))


def states(source: ModelSource, texts: list[str], pooling: Any = "mean", **more: Any) -> Any:
    settings = {"dtype": "float32", "device": "cpu", "context": 512, **more}
    return encode_states(texts, source, pooling, **settings)


def by_hand(source: ModelSource, text: str, pooling: str) -> Any:
    """Return the pooled input of the output layer for one text without padding."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(source.name_or_path)
    model = AutoModelForCausalLM.from_pretrained(source.name_or_path, dtype=torch.float32).eval()
    ids = tokenizer(text).input_ids or [tokenizer.eos_token_id]
    with torch.inference_mode():
        hidden = model(torch.tensor([ids]), output_hidden_states=True).hidden_states[-1][0]
    vector = (hidden[-1] if pooling == "last_token" else hidden.mean(dim=0)).numpy()
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("pooling", ["last_token", "mean"])
def test_padding_does_not_change_vectors(tiny: ModelSource, pooling: str) -> None:
    scores = states(tiny, TEXTS, pooling)
    expected = np.array([by_hand(tiny, text, pooling) for text in TEXTS])
    assert scores == pytest.approx(expected, abs=1e-5)
    assert np.linalg.norm(scores, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-6)


@pytest.mark.parametrize("pooling", ["last_token", "mean"])
def test_vectors_do_not_depend_on_other_texts(tiny: ModelSource, pooling: str) -> None:
    dtype = "bfloat16"
    assert states(tiny, []).shape == (0, 48)
    together = states(tiny, TEXTS, pooling, dtype=dtype)
    order = [4, 0, 5, 2]
    some = states(tiny, [TEXTS[i] for i in order], pooling, dtype=dtype)
    assert some == pytest.approx(together[order], abs=1e-6)
    alone = states(tiny, [TEXTS[2]], pooling, dtype=dtype)
    assert alone[0] == pytest.approx(together[2], abs=1e-6)


def test_texts_longer_than_the_context_are_cut(tiny: ModelSource) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny.name_or_path)
    [ids] = token_ids(tokenizer, [TEXTS[4]], 512)
    kept = tokenizer.decode(ids[:20])
    cut, short = states(tiny, [TEXTS[4], kept], "last_token", context=20)
    assert cut == pytest.approx(short, abs=1e-5)
    assert states(tiny, [TEXTS[4]], "last_token")[0] != pytest.approx(short, abs=1e-2)


def test_batches_have_one_width_and_cover_all_rows() -> None:
    widths = rounded_widths([1, 16, 17, 40, 3, 33, 16], most=40)
    assert widths.tolist() == [16, 16, 32, 40, 16, 40, 16]
    result = list(batches(widths, 3))
    assert result == [([3, 5], 40), ([2], 32), ([0, 1, 4], 16), ([6], 16)]
