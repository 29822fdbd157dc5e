"""All readers keep texts that look like missing values, numbers or Booleans."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hostile.readers import answers, documents, labels, ratings, source

TEXTS = [
    *("None", "NA", "N/A", "TRUE", "False", "01", "1e5", "null", "NaN", "nan", "inf", "#N/A"),
    *("-", "''", "1_000", "0x10", "2020-01-01", "yes", "a;b", "a,b", 'a "b"', "a\tb", "\x00", "é"),
    *("x\ny", "x\u2028y", "=1+1", "\ufeffx", "١", "½"),
]
LONG = "word " * 200_000  # a megabyte


def csv_bytes(rows: list[dict[str, object]], delimiter: str = ",") -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows)
    return ("\ufeff" + out.getvalue()).encode()


def jsonl_bytes(rows: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def parquet_bytes(rows: list[dict[str, object]]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


FORMATS: dict[str, Callable[[list[dict[str, object]]], bytes]] = {
    "csv": csv_bytes,
    "tsv": lambda rows: csv_bytes(rows, "\t"),
    "jsonl": jsonl_bytes,
    "parquet": parquet_bytes,
}


def put(folder: Path, end: str, rows: list[dict[str, object]]) -> Path:
    path = folder / f"file.{end}"
    path.write_bytes(FORMATS[end](rows))
    return path


@pytest.mark.parametrize("end", FORMATS)
def test_every_reader_keeps_texts(tmp_path: Path, end: str) -> None:
    rows: list[dict[str, object]] = [
        {"id": text, "question": text, "A": text, "B": text + "!", "gold": "1"} for text in TEXTS
    ]
    made = source(put(tmp_path, end, rows))
    assert made.rejected_items.empty
    kept = made.items.set_index("item_id").loc[TEXTS]
    assert kept["question"].tolist() == TEXTS
    assert [list(choices) for choices in kept["choices"]] == [[t, t + "!"] for t in TEXTS]
    if end != "tsv":
        rows = [
            {"item_id": "01", "model": text, "correct": "1", "note": LONG if i == 0 else "q"}
            for i, text in enumerate(TEXTS)
        ]
        answered = answers(put(tmp_path, end, rows)).imported_responses
        assert sorted(answered["model"]) == sorted(TEXTS)
        assert set(answered["item_id"]) == {"01"}
    if end in ("jsonl", "parquet"):
        rows = [{"doc_id": text, "text": text} for text in TEXTS]
        seen = documents(put(tmp_path, end, rows))
        assert [(row["doc_id"], row["text"]) for row in seen] == [(t, t) for t in TEXTS]


def test_ratings_and_labels_keep_texts(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("Model;Rating\r\n01;1100\r\n1e5;900,\r\n".replace(",", ""), encoding="utf-16")
    assert ratings(path) == {"01": 1100.0, "1e5": 900.0}
    path.write_text("item_id,sba\n007,1\n\nNA,0\n", encoding="utf-8")
    assert labels(path)["item_id"].tolist() == ["007", "NA"]
    assert labels(path)["sba"].tolist() == [1, 0]
