"""Word length, repetition, lexical diversity and spelling on known texts."""

from math import isnan

import pytest

from benchwright.methods.dele.samplers.text_quality import (
    average_word_length,
    compound_probability,
    is_misspelt,
    lexical_diversity,
    periods,
    repeated_words,
    spelling_errors,
    vowel_consonant_ratio,
    wordform,
)

FEATURES = (average_word_length, repeated_words, lexical_diversity, spelling_errors)


def test_features_equal_those_by_hand() -> None:
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
    ["recieve", "becasue", "aloan", "accidentaly"],
)
def test_misspelt_words_are_detected(word: str) -> None:
    assert is_misspelt(word)


@pytest.mark.parametrize(
    "word",
    [
        *("receive", "cats", "doesn't", "child's"),
        *("organisations", "favourite", "centre", "defence", "oesophagus", "programmes"),  # British
        *("Recieve", "xsd", "pharmacotherapy", "naïvete"),  # a name, too short, a technical term
    ],
)
def test_correct_words_names_and_technical_terms_are_not_misspelt(word: str) -> None:
    assert not is_misspelt(word)


def test_errors_are_counted_once_and_not_in_code() -> None:
    assert spelling_errors("We recieve and recieve it becasue of teh cat") == 2
    assert spelling_errors(r"Let $\recieve$ be recieve_x or recieve(3) or recieve2") == 0
    assert spelling_errors("The cat is here.") == 0


def test_parts_of_the_compound_probability_equal_those_by_hand() -> None:
    text = "The DNA is old. It is so."  # T DNA I upper; he is old t is so lower
    assert wordform(text) == 5 / (2 + 2 + 3 + 1 + 2 + 2)
    # e A i o I i o of 17 letters
    assert vowel_consonant_ratio(text) == 7 / 10
    assert periods(text) == 2
    assert compound_probability(text) == pytest.approx((5 / 12 + 0.7 + 2) / 3, abs=1e-15)


def test_periods_are_full_stops() -> None:
    assert periods("It is 3.5 m. Well... yes.") == 3
    assert periods("") == 0
    assert periods("about .5 or 5.") == 2  # the first is not recognisable as a decimal point


@pytest.mark.parametrize("text", ["", "42", "IBS", "$x$", "猫"])
def test_undefined_features_are_nan(text: str) -> None:
    assert isnan(compound_probability(text))
