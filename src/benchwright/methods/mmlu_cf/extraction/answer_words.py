"""Words for the answer of a question in many languages."""

import csv
import re
from functools import cache
from importlib.resources import files
from typing import Literal

_Kind = Literal["answer", "answers", "correct", "explanation", "question"]


@cache
def words_for(kind: _Kind) -> str:
    """Return a pattern of the words for one answer, a key, "correct" or "explanation"."""
    table = files(__package__) / "answer_words.csv"
    rows = csv.DictReader(table.read_text("utf-8").splitlines())
    words = {word for row in rows for word in row[kind].split("|")}
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))
