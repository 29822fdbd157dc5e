"""Small items and files of answers, built as a user's would look once read."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from benchwright.answers.loaded_file import LoadedFile
from benchwright.core.content_hash import content_hash
from benchwright.params.responses import ResponseFileParams
from benchwright.tables.items import Items
from benchwright.tables.responses import Responses

MakeItems = Callable[..., pd.DataFrame]
MakeFile = Callable[..., LoadedFile]
MakeResponses = Callable[..., pd.DataFrame]


@pytest.fixture(scope="session")
def make_items() -> MakeItems:
    """`make_items("q1", q2=["x", "y"])`: items whose gold is option 1; four options by default."""

    def make(*names: str, answer: int = 1, **choices: Sequence[str]) -> pd.DataFrame:
        options: dict[str, Sequence[str]] = {
            **{name: [f"{name} {letter}" for letter in "abcd"] for name in names},
            **choices,
        }
        rows = [
            {
                "item_id": name,
                "split": "test",
                "subject": "s",
                "question": f"What of {name}?",
                "choices": list(texts),
                "answer": answer if texts else -1,
                "answer_text": texts[answer] if texts else "42",
                "correct_set": [answer] if texts else [],
                "passage_id": None,
                "explanation": None,
                "domain": None,
                "url": None,
                "source_id": None,
                "content_hash": content_hash(f"What of {name}?", texts),
            }
            for name, texts in options.items()
        ]
        return Items.from_rows(rows)

    return make


@pytest.fixture(scope="session")
def make_file() -> MakeFile:
    """A loaded file from its columns, with what conf says of it."""

    def make(
        table: Mapping[str, Any] | pa.Table, /, *, name: str = "a.parquet", **spec: Any
    ) -> LoadedFile:
        cells = table if isinstance(table, pa.Table) else pa.table(dict(table))
        return LoadedFile(ResponseFileParams(file=name, **spec), cells)

    return make


@pytest.fixture(scope="session")
def make_responses() -> MakeResponses:
    """A `Responses` table from rows that say only what matters."""

    def make(*rows: Mapping[str, Any]) -> pd.DataFrame:
        blank = {
            "condition": "question",
            "style": "",
            "shots": -1,
            "repeat": 1,
            "logprobs": None,
            "option_bytes": None,
            "option_tokens": None,
            "prediction": -1,
            "p_answer": None,
            "p_prediction": None,
            "correct": None,
            "shots_used": -1,
            "prompt_tokens": -1,
            "generated_tokens": -1,
            "extraction": "none",
            "prompt_id": None,
            "source": "a.parquet",
        }
        return Responses.from_rows([{**blank, **row} for row in rows])

    return make
