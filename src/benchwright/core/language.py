"""The language of a text, by English function words and py3langid."""

import re
from functools import cache
from typing import Any

_ENGLISH = re.compile(
    r"(?i)\b(?:the|which|what|with|that|from|this|following|would|does|when|where|their|and|"
    r"these|there|because|should|between|they|his|who|how|why|you)\b"
)
_LETTERS_PER_ENGLISH_WORD = 90
_FEWEST_BYTES = 25  # of letters; fewer say nothing about the language


def likely_languages(text: str) -> dict[str, float]:
    """Return the probability (0–1) of each language, by ISO 639 code; empty if it cannot be told.

    A text with an English function word in 90 characters is English, one without any that opens
    with an inverted mark is Spanish. For others with at least 25 bytes of letters, py3langid (naive
    Bayes over byte n-grams, 97 languages) gives the probabilities, the highest first.
    """
    english = len(_ENGLISH.findall(text))
    if not english and re.match(r"\W*[¿¡]", text):
        return {"es": 1.0}
    # Symbols and formulas say nothing about the language.
    words = re.sub(r"\$[^$]*\$|\\[A-Za-z]+|(?:[^\w']|[\d_])+", " ", text)
    if len("".join(filter(str.isalpha, words)).encode()) < _FEWEST_BYTES:
        return {}
    if english * _LETTERS_PER_ENGLISH_WORD >= len(text):
        return {"en": 1.0}
    return {str(code): float(share) for code, share in _identifier().rank(words)}


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
