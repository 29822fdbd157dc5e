"""How long a text's words are (DELE, A.1.10)."""

from math import nan

from benchwright.methods.dele.samplers.prose import prose_words


def average_word_length(text: str) -> float:
    """Letters per word; NaN where the text has no words. Apostrophes do not count."""
    words = prose_words(text)
    if not words:
        return nan
    return sum(len(word.replace("'", "")) for word in words) / len(words)
