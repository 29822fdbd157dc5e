"""The end of a context follows from the tokens of the joint text."""

from types import SimpleNamespace
from typing import Any

import pytest

from benchwright.language_models.protocol import PromptText
from benchwright.language_models.tokenization import common_length, encode


def test_context_and_option_tokens_equal_those_of_the_joint_text(tiny_tokenizer: Any) -> None:
    prompt = PromptText("Which is a fruit?", "\n\nAnswer:", (" apple", " iron", ""))
    [encoded] = encode(tiny_tokenizer, [prompt])
    for option, continuation in zip(encoded.options, prompt.continuations, strict=True):
        joint = tiny_tokenizer(prompt.prefix + prompt.text + continuation).input_ids
        assert encoded.context + option == joint


class Joining:
    """A tokenizer of one token per character that joins "d" and "e" into one."""

    bos_token_id = None
    eos_token_id = 0

    def __call__(self, texts: list[str], add_special_tokens: bool) -> Any:
        return SimpleNamespace(
            input_ids=[[ord(c) for c in text.replace("de", "é")] for text in texts]
        )


def test_options_start_at_the_same_token_if_one_merges_with_the_prompt() -> None:
    [encoded] = encode(Joining(), [PromptText("a", "bcd", ("ef", "xy"))])
    assert encoded.context == [ord(c) for c in "abc"]
    assert encoded.options == [[ord("é"), ord("f")], [ord(c) for c in "dxy"]]


def test_empty_prompt_starts_from_the_end_of_text_token() -> None:
    [encoded] = encode(Joining(), [PromptText("", "", ("x", "y"))])
    assert encoded.context == [0]
    assert encoded.options == [[ord("x")], [ord("y")]]


@pytest.mark.parametrize(
    ("sequences", "length"),
    [([[1, 2, 3], [1, 2, 4]], 2), ([[1, 2], [1, 2, 3]], 2), ([[5], [6], [5]], 0), ([[7, 8]], 2)],
)
def test_common_length_is_that_of_the_shared_start(sequences: list[list[int]], length: int) -> None:
    assert common_length(sequences) == length
