"""Questions whose field is known, to train on and to be measured on."""

from collections.abc import Sequence

import pandas as pd

from benchwright.methods.mmlu_cf.fields.bundled_examples import EXAMPLES
from benchwright.methods.mmlu_cf.fields.names import FIELDS


def text_to_encode(question: str, choices: Sequence[str], with_choices: bool) -> str:
    """What an encoder reads of a question."""
    return " ".join([question, *choices]) if with_choices else question


def bundled_examples() -> pd.DataFrame:
    """The bundled questions: item_id, question, choices (none), field."""
    rows: list[tuple[str, str, list[str], str]] = [
        (f"bundled/{field}/{number}", question, [], field)
        for field in FIELDS
        for number, question in enumerate(EXAMPLES[field], start=1)
    ]
    return pd.DataFrame(rows, columns=["item_id", "question", "choices", "field"])
