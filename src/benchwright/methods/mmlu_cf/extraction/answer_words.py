"""Words for the answer of a question in many languages."""

import csv
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Literal

_Kind = Literal["answer", "answers", "correct", "explanation", "question"]


def _patterns() -> Mapping[str, str]:
    table = files(__package__) / "answer_words.csv"
    rows = list(csv.DictReader(table.read_text("utf-8").splitlines()))
    words = {kind: {word for row in rows for word in row[kind].split("|")} for kind in rows[0]}
    return {
        kind: "|".join(map(re.escape, sorted(words[kind], key=lambda word: (-len(word), word))))
        for kind in words
    }


_PATTERNS = _patterns()


def words_for(kind: _Kind) -> str:
    """Return a pattern of the words for one answer, a key, "correct" or "explanation"."""
    return _PATTERNS[kind]
