"""How varied a text's words are (DELE, A.1.13)."""

from math import nan

from benchwright.methods.dele.samplers.prose import prose_words


def lexical_diversity(text: str) -> float:
    """Distinct words divided by words, in (0, 1], case folded; NaN where there are none."""
    words = prose_words(text)
    return len({word.casefold() for word in words}) / len(words) if words else nan
