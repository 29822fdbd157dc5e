"""A rough count of tokens, which needs no tokenizer."""

COUNTED_BY = "characters / 4"
"""The description of `rough_tokens`; English text has about four characters per token."""


def rough_tokens(text: str) -> float:
    """Return the number of tokens of a text, by its characters."""
    return len(text) / 4
