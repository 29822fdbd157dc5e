"""Cleaning of published questions, nearly all of which are sound."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from benchwright.methods.mmlu_cf.cleaning.clean import clean, deduplicate
from benchwright.methods.mmlu_cf.cleaning.rows import as_raw
from benchwright.params.mmlu_cf import CleaningParams

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


@pytest.mark.parametrize("subject", ["us_history", "world_history", "european_history"])
def test_questions_on_one_passage_are_kept(shared_data: Path, subject: str) -> None:
    rows = mmlu(shared_data)
    rows = rows.filter(pc.equal(rows.column("subject"), f"high_school_{subject}"))
    cleaned = clean([as_raw(rows)], CleaningParams(off=("exact_duplicate", "near_duplicate"))).rows
    beginnings = pc.utf8_slice_codeunits(cleaned.column("question"), 0, 200)
    assert pc.count_distinct(beginnings).as_py() < 0.6 * cleaned.num_rows  # passages are shared
    assert deduplicate(cleaned, CleaningParams()).duplicates.num_rows == 0
    planted = cleaned.slice(0, 50).to_pylist()
    for row in planted:
        row["item_id"] = "zz/" + row["item_id"]
        row["question"] = row["question"].replace("following", "folowing")
        row["choices"] = row["choices"][::-1]
        row["answer"] = len(row["choices"]) - 1 - row["answer"]
    both = pa.concat_tables([cleaned, pa.Table.from_pylist(planted, schema=cleaned.schema)])
    duplicates = deduplicate(both, CleaningParams()).duplicates
    assert set(duplicates.column("item_id").to_pylist()) == {row["item_id"] for row in planted}
