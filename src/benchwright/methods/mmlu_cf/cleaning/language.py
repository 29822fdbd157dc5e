"""The rule about language: by script, and for longer questions by a language identifier."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchwright.methods.mmlu_cf.cleaning.rows import Bools, Outcome, Rows, Text, truths
from benchwright.params.cleaning import CleaningParams

# Words that are common in English and are not words of other languages in Latin script.
_ENGLISH = (
    r"(?i)\b(?:the|which|what|with|that|from|this|following|would|does|when|where|their|and|"
    r"these|there|because|should|between|they|his|who|how|why|you)\b"
)
_LETTERS_PER_ENGLISH_WORD = 90
# Greek letters pass as symbols; three in a row make a Greek word.
_FOREIGN = r"[^\P{L}\p{Latin}\p{Greek}\p{Common}]|\p{Greek}{3,}"


def non_english(rows: Rows, params: CleaningParams) -> Outcome:
    """Rejects questions in another script or language.

    By script: more than a fifth (`language.foreign_letters`) of the letters of question and
    choices are of another script than Latin; single Greek letters, symbols, units and diacritics
    pass. By language: a question of at least 25 letters (`language.letters`) with hardly an English
    function word, for which the identifier (py3langid: multinomial naive Bayes over byte n-grams,
    97 languages, its model packaged with it) gives another language a probability of at least 0.9
    (`language.probability`); or one of any length that opens with an inverted mark, as Spanish
    does, and has no English function word. Thin evidence does not reject.
    """
    script = _other_script(rows, params.language.foreign_letters)
    return Outcome(
        rows,
        (
            (script, "letters of another script"),
            (_other_language(rows, script, params), "another language"),
        ),
    )


def _other_script(rows: Rows, most: float) -> Bools:
    result = np.zeros(len(rows), np.bool_)
    strange = truths(pc.match_substring_regex(rows.question, _FOREIGN))
    strange |= rows.any(truths(pc.match_substring_regex(rows.choices, _FOREIGN)))
    if not strange.any():
        return result
    some = rows.where(strange)
    letters, foreign = (
        _count(some.question, pattern) + some.sums(_count(some.choices, pattern))
        for pattern in (r"\p{L}", r"[^\P{L}\p{Latin}\p{Common}]")
    )
    result[strange] = foreign > most * letters
    return result


def _other_language(rows: Rows, known: Bools, params: CleaningParams) -> Bools:
    language = params.language
    length = pc.utf8_length(rows.question).to_numpy(zero_copy_only=False)
    english = _count(rows.question, _ENGLISH)
    inverted = truths(pc.match_substring_regex(rows.question, r"^\W*[¿¡]")) & (english == 0)
    unsure = ~known & ~inverted & (length >= language.letters)
    unsure &= english * _LETTERS_PER_ENGLISH_WORD < length
    if unsure.any():
        some = rows.question.filter(pa.array(unsure))
        # Thousands of signs that are not letters say nothing about a language.
        words = pc.replace_substring_regex(some, r"\$[^$]*\$|\\[A-Za-z]+|[^\p{L}\x{27}]+", " ")
        enough = _count(words, r"\p{L}") >= language.letters
        unsure[unsure] = enough
        texts = words.filter(pa.array(enough)).to_pylist()
        unsure[unsure] = [
            name != "en" and probability >= language.probability
            for name, probability in _identified(texts)
        ]
    return unsure | (inverted & ~known)


def _count(texts: Text, pattern: str) -> Any:
    return pc.count_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)


def _identified(texts: Sequence[str]) -> list[tuple[str, float]]:
    classify = _identifier().classify
    return [(str(name), float(probability)) for name, probability in map(classify, texts)]


@cache
def _identifier() -> Any:
    from py3langid.langid import (
        MODEL_FILE,
        LanguageIdentifier,
    )

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
