import bz2
import gzip
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.core.errors import InputError
from benchwright.datasets.document_shards import DocumentShards, shard_files


def line(n: int, **more: object) -> str:
    return json.dumps(
        {"doc_id": f"d{n}", "url": f"https://a{n}.example.org/x", "text": f"text {n}", **more}
    )


def texts(shards: DocumentShards) -> list[str]:
    return [text for batch in shards.load() for text in batch.column("text").to_pylist()]


def test_shards_of_every_format_give_the_same_documents(tmp_path: Path) -> None:
    lines = "".join(f"{line(n)}\n" for n in range(3)).encode()
    (tmp_path / "a.jsonl").write_bytes(lines)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines))
    (tmp_path / "c.jsonl.bz2").write_bytes(bz2.compress(lines))
    with pa.output_stream(str(tmp_path / "d.jsonl.zst"), compression="zstd") as out:
        out.write(lines)
    rows = [json.loads(text) for text in lines.decode().splitlines()]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "e.parquet")
    (tmp_path / "notes.txt").write_text("no document shards")
    assert texts(DocumentShards(str(tmp_path))) == ["text 0", "text 1", "text 2"] * 5


def test_pattern_selects_shards_sorted_by_name(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "c.json"):
        (tmp_path / name).write_text(f"{line(1, text=name)}\n")
    assert texts(DocumentShards(str(tmp_path / "*.jsonl"))) == ["a.jsonl", "b.jsonl"]
    with pytest.raises(InputError, match=r"nothing.*no document shards"):
        shard_files(str(tmp_path / "nothing"))


def test_missing_fields_are_filled_in(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"body": "<p>hello", "url": "https://Q.example.org:80/a"}\n')
    (batch,) = DocumentShards(str(tmp_path), fields={"text": "body"}).load()
    assert batch.to_pylist() == [
        {
            "doc_id": "x.jsonl:1",
            "url": "https://Q.example.org:80/a",
            "domain": "q.example.org",
            "content_type": "text/html",
            "text": "<p>hello",
        }
    ]


def test_texts_and_lines_up_to_the_limit_are_read(tmp_path: Path) -> None:
    longest = 6 * 100 + 65_536
    bare = len(line(4, pad=""))
    lines = [
        line(1, text="x" * 100),
        line(2, text="x" * 101),
        "x" * (longest * 3),
        *("{", "[1]", line(3, text=5)),
        line(4, pad="x" * (longest - bare - 1)),
        line(5, pad="x" * (longest - bare)),
        line(6),
    ]
    (tmp_path / "x.jsonl").write_text("".join(f"{text}\n" for text in lines))
    batches = DocumentShards(str(tmp_path), largest=100).load()
    ids = [doc_id for batch in batches for doc_id in batch.column("doc_id").to_pylist()]
    assert ids == ["d1", "d4", "d6"]
    report = batches.reports[str(tmp_path / "x.jsonl")]
    assert (report.documents, report.unreadable) == (3, 6)
    assert report.first_fault == "2: text longer than 100 characters"


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst", "a.parquet"])
def test_reading_continues_after_a_truncated_shard(tmp_path: Path, name: str) -> None:
    packed = gzip.compress("".join(f"{line(n)}\n" for n in range(5_000)).encode())
    (tmp_path / name).write_bytes(packed[: len(packed) // 2] if name.endswith("gz") else b"torn")
    (tmp_path / "b.jsonl").write_text(f"{line(2)}\n")
    batches = DocumentShards(str(tmp_path)).load()
    assert "d2" in [doc_id for batch in batches for doc_id in batch.column("doc_id").to_pylist()]
    assert [file for file, r in batches.reports.items() if r.unreadable] == [str(tmp_path / name)]


def test_batches_are_bounded_in_documents_and_in_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.jsonl").write_text("".join(f"{line(n, text='x' * 40)}\n" for n in range(10)))
    batches = DocumentShards(str(tmp_path)).load()
    for name, value, expected in (
        ("DOCUMENTS", 4, [4, 4, 2]),
        ("CHARACTERS", 80, [2] * 5),
        ("CHARACTERS", 79, [1] * 10),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(f"benchwright.datasets.document_shards._BATCH_{name}", value)
            assert [batch.num_rows for batch in batches] == expected


def test_only_pages_of_a_warc_are_documents(tmp_path: Path) -> None:
    pytest.importorskip("warcio", reason="warcio is not installed")
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    with (tmp_path / "x.warc.gz").open("wb") as out:
        writer = WARCWriter(out, gzip=True)
        for kind, status, body in (
            ("text/html; charset=latin-1", "200 OK", "<p>caf\xe9".encode("latin-1")),
            ("image/png", "200 OK", b"png"),
            ("text/html", "404 Not Found", b"<p>gone"),
            ("text/html", "200 OK", b"x" * 200),
        ):
            head = StatusAndHeaders(status, [("Content-Type", kind)], protocol="HTTP/1.1")
            writer.write_record(
                writer.create_warc_record(
                    "https://a.example.org/",
                    "response",
                    payload=io.BytesIO(body),
                    http_headers=head,
                )
            )
    batches = DocumentShards(str(tmp_path), largest=100).load()
    result = [row for batch in batches for row in batch.to_pylist()]
    assert [(row["text"], row["domain"]) for row in result] == [("<p>café", "a.example.org")]
    (report,) = batches.reports.values()
    assert report.first_fault == "4: page longer than 100 bytes"
