"""Cleaning of published questions, nearly all of which are sound."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.methods.mmlu_cf.cleaning.clean import clean
from benchwright.params.mmlu_cf import CleaningParams
from methods.mmlu_cf.cleaning.raw_rows import as_raw

pytestmark = pytest.mark.real_data


def mmlu(folder: Path) -> pa.Table:
    rows = pq.read_table(folder / "benchmarks" / "mmlu.parquet")
    return rows.rename_columns(
        ["answer" if name == "answer_index" else name for name in rows.column_names]
    )


def test_few_published_questions_are_rejected(
    shared_data: Path, show: Callable[[str], None]
) -> None:
    rows = mmlu(shared_data)
    rows = rows.take(pa.array(range(0, rows.num_rows, 4)))
    result = clean([as_raw(rows)], CleaningParams())
    counts = dict(
        zip(*result.counts.select(["rule", "rejected"]).to_pydict().values(), strict=True)
    )
    show(
        f"cleaning of {rows.num_rows} MMLU items rejects "
        + str({k: v for k, v in counts.items() if v})
    )
    assert sum(counts.values()) < 0.03 * rows.num_rows
    assert counts["non_english"] == counts["answer_format"] == counts["label_set"] == 0
    assert result.changes.num_rows < 20
