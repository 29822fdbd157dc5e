"""Raw items as on their pages, made from clean ones."""

import pyarrow as pa

from benchwright.methods.mmlu_cf.cleaning.rows import LETTERS


def as_raw(rows: pa.Table) -> pa.Table:
    """Give clean rows labels A, B, …, and their answers as letters."""
    answers = [None if at < 0 else LETTERS[at] for at in rows.column("answer").to_pylist()]
    labels = [LETTERS[: len(choices)] for choices in rows.column("choices").to_pylist()]
    place = rows.column_names.index("answer")
    return rows.set_column(place, "answer", pa.array(answers, pa.large_string())).append_column(
        "labels", pa.array(labels, pa.large_list(pa.large_string()))
    )
