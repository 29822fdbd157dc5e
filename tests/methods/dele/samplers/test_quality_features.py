"""Word length, repetition, lexical diversity and spelling against counts by hand."""

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.methods.dele.samplers.text_quality import (
    average_word_length,
    is_misspelt,
    lexical_diversity,
    repeated_words,
    spelling_errors,
)

FEATURES = (average_word_length, repeated_words, lexical_diversity, spelling_errors)


def test_by_hand() -> None:
    text = "The cat saw the other cat."
    assert average_word_length(text) == (3 + 3 + 3 + 3 + 5 + 3) / 6
    assert repeated_words(text) == 2  # the, cat
    assert lexical_diversity(text) == 4 / 6
    assert average_word_length("It doesn't") == (2 + 6) / 2
    assert repeated_words("buffalo Buffalo BUFFALO") == 2


@pytest.mark.parametrize("text", ["", "  \n", "8 + 8 = ?", "$x^2$", "____"])
def test_texts_without_words_have_no_quality(text: str) -> None:
    assert all(isnan(feature(text)) for feature in FEATURES)


@pytest.mark.parametrize(
    "word",
    ["recieve", "becasue", "aloan", "seperate", "didnt", "receipes", "accidentaly", "enourmous"],
)
def test_misspelt(word: str) -> None:
    assert is_misspelt(word)


@pytest.mark.parametrize(
    "word",
    [
        "receive",
        "cats",
        "doesn't",
        "respirations",
        "child's",
        # British
        "organisations",
        "analyse",
        "favourite",
        "behavioural",
        "centre",
        "defence",
        "oesophagus",
        "programmes",
        # names, acronyms, units, code, terms that are near no common word
        "Recieve",
        "DNAA",
        "xsd",
        "pharmacotherapy",
        "naïvete",
    ],
)
def test_not_misspelt(word: str) -> None:
    assert not is_misspelt(word)


def test_errors_count_once_each_and_not_in_code() -> None:
    assert spelling_errors("We recieve and recieve it becasue of teh cat") == 2
    assert spelling_errors(r"Let $\recieve$ be recieve_x or recieve(3) or recieve2") == 0
    assert spelling_errors("The cat is here.") == 0


@given(st.text(alphabet="ab cB.'é3=", max_size=60))
def test_ranges(text: str) -> None:
    if isnan(average_word_length(text)):
        assert all(isnan(feature(text)) for feature in FEATURES)
        return
    assert average_word_length(text) >= 1
    assert 0 < lexical_diversity(text) <= 1
    assert repeated_words(text) >= 0
    # One is the other seen from the number of words.
    assert (repeated_words(text) == 0) == (lexical_diversity(text) == 1)
    assert repeated_words(text + " " + text) >= 2 * repeated_words(text) + 1
