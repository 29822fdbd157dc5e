"""Words of texts."""

import pytest

from benchwright.methods.dele.samplers.prose import (
    read_prose,
    without_formulas,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ()),
        ("Can pigs fly?", ("Can", "pigs", "fly")),
        (
            "A well-known man—he and/or I…who?",
            ("A", "well", "known", "man", "he", "and", "or", "I", "who"),
        ),
        ("the dogs' owner doesn’t say ‘no’", ("the", "dogs", "owner", "doesn't", "say", "no")),
        ("The drug(s) is (are) _____.", ("The", "drug", "is", "are")),
        (
            "Find x so that f(x) = 3x in Z_3, H2O or the U.S.",
            ("Find", "so", "that", "in", "or", "the"),
        ),
        (r"Let $\alpha x$ be \[real\] in", ("Let", "be", "in")),
        ("It costs $5 and then $10 more", ("It", "costs", "and", "then", "more")),
        ("It costs $5-$10, or $ x $", ("It", "costs", "or")),
        ("naïve Café", ("naïve", "Café")),
        ("Cafe\u0301", ("Café",)),
        ("हिन्दी 猫", ("हिन्दी", "猫")),
        ("3 + 4 = ?", ()),
    ],
)
def test_words_are_extracted(text: str, words: tuple[str, ...]) -> None:
    assert read_prose(text).words == words


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("8 + 8 ÷ 2 = ?", 3),
        ("Evaluate $\\log_8 2$.", 1),
        ("Find x so that f(x) = 3x", 3),
        ("The answer is _____.", 0),
        ("Can pigs fly?", 0),
    ],
)
def test_numbers_formulas_and_signs_are_counted(text: str, others: int) -> None:
    assert read_prose(text).others == others


def test_formulas_are_removed_and_amounts_kept() -> None:
    assert without_formulas("a $x^2$ b $$y$$ c \\(z\\) d").split() == ["a", "b", "c", "d"]
    assert without_formulas("from $5 to $10") == "from $5 to $10"
    assert without_formulas("for $5/$10") == "for $5/$10"
