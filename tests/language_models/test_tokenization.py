"""The end of a context follows from the tokens of the joint text."""

from itertools import pairwise
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


class Counting:
    """A tokenizer that begins with a token of its own and counts the characters it has read."""

    bos_token_id, eos_token_id = 1, 2

    def __init__(self, width: int = 1, from_end: bool = False) -> None:
        self.width, self.from_end = width, from_end
        self.read = 0

    def __call__(self, texts: list[str], add_special_tokens: bool) -> Any:
        self.read += sum(map(len, texts))
        start = [self.bos_token_id] if add_special_tokens else []
        return SimpleNamespace(input_ids=[start + self.tokens(text) for text in texts])

    def tokens(self, text: str) -> list[int]:
        first = len(text) % self.width if self.from_end else 0
        cuts = [0, *range(first or self.width, len(text) + self.width, self.width)]
        return [hash(text[a:b]) for a, b in pairwise(cuts)]


LONG = "an old apple tree " * 60


@pytest.mark.parametrize(
    ("width", "from_end", "repeated"),
    [
        (1, False, False),
        (2, False, False),  # the last token of the prompt joins with each option
        (2, True, True),  # an option of odd length changes all tokens
        (40, False, True),  # what is read again has fewer tokens than must not change
    ],
)
def test_long_prompt_is_read_once_where_options_change_only_its_end(
    width: int, from_end: bool, repeated: bool
) -> None:
    tokenizer = Counting(width, from_end)
    prompt = PromptText(LONG, "Question: which?", (" pear", " fig", ""))
    [encoded] = encode(tokenizer, [prompt])
    read = tokenizer.read
    for option, continuation in zip(encoded.options, prompt.continuations, strict=True):
        joint = tokenizer([LONG + prompt.text + continuation], True).input_ids[0]
        assert encoded.context + option == joint
    assert (read > 3 * len(LONG)) == repeated
    assert encoded.context[0] == tokenizer.bos_token_id


@pytest.mark.parametrize(
    ("sequences", "length"),
    [([[1, 2, 3], [1, 2, 4]], 2), ([[1, 2], [1, 2, 3]], 2), ([[5], [6], [5]], 0), ([[7, 8]], 2)],
)
def test_common_length_is_that_of_the_shared_start(sequences: list[list[int]], length: int) -> None:
    assert common_length(sequences) == length
