"""Errors without words of questions, since logs, MLflow and terminals keep messages."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain

import pandas as pd

from benchwright.core.errors import InputError, one_line

_TEXTS = ("question", "passage", "explanation")
_TOKEN = re.compile(r"\w+")
_SHORTEST = 3


@contextmanager
def no_question_in_errors(items: pd.DataFrame, what: str) -> Iterator[None]:
    """Withhold the message of an error that is not ours, or that repeats words of an item.

    Raises:
        InputError: instead of any exception in the block.
    """
    try:
        yield
    except Exception as error:
        message = one_line(error)
        if message is not None and not word_sequences(_texts(items)) & word_sequences([message]):
            raise InputError(message) from None
        raise InputError(
            f"{what} failed ({type(error).__name__}); its message is withheld, as it may quote a "
            "question of the closed half. Run the step on a few public questions to see it"
        ) from None


def _texts(items: pd.DataFrame) -> list[str]:
    texts: list[str] = []
    for name in items.columns.intersection(list(_TEXTS)):
        texts += [text for text in items[name] if isinstance(text, str)]
    return texts + list(map(str, chain.from_iterable(items["choices"])))


def word_sequences(texts: Iterable[str], words: int = 5) -> set[tuple[str, ...]]:
    """Return all runs of so many words, in lower case.

    A shorter text counts as a whole from 3 words on; texts below that occur everywhere.
    """
    runs: set[tuple[str, ...]] = set()
    for text in texts:
        tokens = _TOKEN.findall(text.casefold())
        if _SHORTEST <= len(tokens) < words:
            runs.add(tuple(tokens))
        for start in range(len(tokens) - words + 1):
            runs.add(tuple(tokens[start : start + words]))
    return runs
