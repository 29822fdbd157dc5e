"""The readability indices against the paper's formulas and against textstat."""

from math import isnan

import pytest

from benchwright.methods.dele.samplers.readability import (
    ReadingCounts,
    dale_chall,
    difficult_word_share,
    flesch_reading_ease,
    gunning_fog,
    reading_counts,
    syllable_count,
)

INDICES = (difficult_word_share, dale_chall, flesch_reading_ease, gunning_fog)

# On the list: the, doctor, he. Six are not.
# doc-tor care-ful-ly ex-am-ined pa-tient; rec-om-mend-ed im-me-di-ate sur-ger-y
CLINIC = "The doctor carefully examined the patient. He recommended immediate surgery."


def test_counts_equal_those_by_hand() -> None:
    assert reading_counts(CLINIC) == ReadingCounts(
        words=10, sentences=2, syllables=24, difficult=6, complex=5
    )


def test_indices_equal_those_by_hand() -> None:
    assert difficult_word_share(CLINIC) == pytest.approx(6 / 10)
    assert dale_chall(CLINIC) == pytest.approx(0.1579 * 60 + 0.0496 * 5)
    assert flesch_reading_ease(CLINIC) == pytest.approx(206.835 - 1.015 * 5 - 84.6 * 2.4)
    assert flesch_reading_ease(CLINIC) == pytest.approx(-1.28)
    assert gunning_fog(CLINIC) == pytest.approx(0.4 * (5 + 50))


def test_numbers_and_formulas_are_easy_words_of_one_syllable() -> None:
    assert reading_counts("Compute 22 / 2 + 9.") == ReadingCounts(4, 1, 2 + 3, 1, 0)
    assert reading_counts(r"Simplify $\frac{x}{y}$.") == ReadingCounts(2, 1, 3 + 1, 1, 1)
    assert difficult_word_share("8 + 8 = ?") == 0


def test_syllables_are_counted_by_dictionary_or_hyphenation() -> None:
    # Microplastics has four, but is hyphenated mi-cro-plastics.
    words = {"table": 2, "photosynthesis": 5, "microplastics": 3, "zzz": 1}
    assert {word: syllable_count(word) for word in words} == words


@pytest.mark.parametrize("text", ["", " ", "____", "?!", "+ ="])
def test_texts_without_words_have_no_indices(text: str) -> None:
    assert all(isnan(index(text)) for index in INDICES)
