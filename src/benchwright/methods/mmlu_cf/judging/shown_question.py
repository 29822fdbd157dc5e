"""A question as judges see it."""

from collections.abc import Sequence
from string import ascii_uppercase


def shown_options(choices: Sequence[str]) -> str:
    """The options, lettered, one on a line."""
    return "\n".join(
        f"{letter}. {choice}" for letter, choice in zip(ascii_uppercase, choices, strict=False)
    )


def shown_question(question: str, choices: Sequence[str], answer: int) -> str:
    """The question, its options, and the letter of the right one (none where `answer` is −1)."""
    right = ascii_uppercase[answer] if 0 <= answer < len(choices) else "not given"
    return f"Question: {question}\n{shown_options(choices)}\nRight answer: {right}"
