"""How many words of a text were there before (DELE, A.1.11)."""

from math import nan

from benchwright.methods.dele.samplers.prose import prose_words


def repeated_words(text: str) -> float:
    """Words that stood earlier in the text, case folded; NaN where the text has no words.

    "The cat saw the other cat" has 2. The paper says no more than "count of repeating words".
    """
    words = prose_words(text)
    return float(len(words) - len({word.casefold() for word in words})) if words else nan
