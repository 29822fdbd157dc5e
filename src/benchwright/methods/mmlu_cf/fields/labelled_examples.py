"""Questions whose field is known, to train on and to be measured on."""

from collections.abc import Mapping, Sequence

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.methods.mmlu_cf.fields.bundled_examples import EXAMPLES
from benchwright.methods.mmlu_cf.fields.names import FIELDS, MMLU_FIELDS


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


def examples_by_subject(
    items: pd.DataFrame, fields: Mapping[str, str] = MMLU_FIELDS
) -> pd.DataFrame:
    """Items of a benchmark with the field of their subject: item_id, question, choices, field.

    Args:
        items: item_id, question, choices, subject.
        fields: the field of each subject; "" or a subject that is missing leaves its items out.

    Raises:
        InputError: no subject is in `fields`, or a field is not known.
    """
    if unknown := sorted(set(fields.values()) - {*FIELDS, ""}):
        raise InputError(f"fields: {unknown[0]!r} is no field; there are {', '.join(FIELDS)}")
    field = items["subject"].map(fields).replace("", None)
    known = field.notna()
    if not known.any():
        seen = ", ".join(sorted(set(items["subject"].astype(str)))[:3]) or "none"
        raise InputError(f"fields: no subject has a field; the subjects are {seen}, …")
    table = items.loc[known, ["item_id", "question", "choices"]]
    return table.assign(field=field[known].astype(str)).reset_index(drop=True)
