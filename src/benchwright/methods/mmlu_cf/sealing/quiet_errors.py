"""Errors that repeat no words of a question: logs, MLflow and terminals keep what they are told."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pandas as pd

from benchwright.core.errors import InputError, one_line

_TEXTS = ("question", "passage", "explanation")
_TOKEN = re.compile(r"\w+")
_SHORTEST = 3


@contextmanager
def no_question_in_errors(items: pd.DataFrame, what: str) -> Iterator[None]:
    """An error of ours passes if it repeats no words of an item; others lose their message.

    Args:
        items: question, choices; passage and explanation where there are any.
        what: what is done, for the error.

    Raises:
        InputError: instead of any exception in the block.
    """
    try:
        yield
    except Exception as error:
        told = one_line(error)
        if told is not None and not word_sequences(_texts(items)) & word_sequences([told]):
            raise InputError(told) from None
        raise InputError(
            f"{what} failed ({type(error).__name__}); its message is withheld, since it may quote "
            "a question that is to be closed. The same step on a few public questions tells more"
        ) from None


def _texts(items: pd.DataFrame) -> Iterable[str]:
    for name in _TEXTS:
        if name in items:
            yield from (text for text in items[name] if isinstance(text, str))
    for choices in items["choices"]:
        yield from map(str, choices)


def word_sequences(texts: Iterable[str], words: int = 5) -> set[tuple[str, ...]]:
    """All runs of so many words, lower case; a text of 3 words or more but fewer than that, whole.

    Shorter texts are passed over: they occur everywhere.
    """
    found: set[tuple[str, ...]] = set()
    for text in texts:
        tokens = _TOKEN.findall(text.casefold())
        if _SHORTEST <= len(tokens) < words:
            found.add(tuple(tokens))
        found.update(zip(*(tokens[i:] for i in range(words)), strict=False))
    return found
