"""Tokens of texts, by a model's tokenizer or by characters."""

import pytest

from benchwright.core.errors import InputError
from benchwright.language_models.loading import text_lengths
from benchwright.params.scoring import ModelsParams
from faults.tiny_llama import WORDS, save_tiny_llama

TEXTS = [WORDS, "apple iron", "", "zq" * 40]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> ModelsParams:
    folder = save_tiny_llama(tmp_path_factory.mktemp("tiny"))
    tiny = {"weights": {"path": str(folder)}, "family": "tiny", "context": 64, "size_b": 0.1}
    served = {
        "backend": "openai",
        "endpoint": {"url": "http://localhost:1/v1", "model": "x", "logprobs": "echo"},
        "family": "served",
        "context": 64,
    }
    return ModelsParams.model_validate({"models": {"tiny": tiny, "served": served}})


def test_lengths_are_counted_by_the_tokenizer(models: ModelsParams) -> None:
    from transformers import AutoTokenizer

    lengths = text_lengths(TEXTS * 300, "tiny", models, "sampling.tokenizer")
    weights = models.models["tiny"].weights
    tokenizer = AutoTokenizer.from_pretrained(weights.path)
    assert lengths.tokens == [len(tokenizer.tokenize(text)) for text in TEXTS] * 300
    assert lengths.tokens[2] == 0
    assert lengths.counted_by == "tokenizer of tiny"


def test_four_characters_count_as_a_token_without_tokenizer() -> None:
    lengths = text_lengths(["x" * 10, ""], None, None, "x")
    assert lengths == ([2.5, 0.0], "characters / 4")


@pytest.mark.parametrize("name", ["gone", "served"])
def test_error_names_a_model_without_weights(models: ModelsParams, name: str) -> None:
    with pytest.raises(
        InputError, match=rf"sampling.tokenizer '{name}' is not a model with weights; .* of tiny$"
    ):
        text_lengths(TEXTS, name, models, "sampling.tokenizer")
    with pytest.raises(InputError, match="--tokenizer names a model of the project's conf"):
        text_lengths(TEXTS, "tiny", None, "--tokenizer")
