"""Word length, repetition, lexical diversity and spelling on known texts."""

from math import isnan

import numpy as np
import pytest

from benchwright.methods.dele.samplers.text_quality import (
    average_word_length,
    compound_probability,
    is_misspelt,
    lexical_diversity,
    periods,
    repeated_words,
    spelling_errors,
    standardised_compound_probability,
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


def test_standardised_values_equal_those_of_numpy() -> None:
    texts = ["One. Two.", "three", "FOUR is it. And. So on.", "no Vowels", "IBS", "three"]
    got = standardised_compound_probability(texts)
    rows = np.array([[wordform(t), vowel_consonant_ratio(t), periods(t)] for t in texts])
    whole = rows[~np.isnan(rows).any(axis=1)]
    expected = ((rows - whole.mean(axis=0)) / whole.std(axis=0)).mean(axis=1)
    assert np.allclose(got, expected, equal_nan=True, rtol=1e-12)
    assert isnan(got[4])
    assert got[1] == got[5]


def test_constant_parts_are_zero() -> None:
    assert standardised_compound_probability(["abc", "abc"]) == [0, 0]
    assert all(isnan(value) for value in standardised_compound_probability(["", "1"]))
    assert standardised_compound_probability([]) == []
