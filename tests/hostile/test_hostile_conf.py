"""Broken or misleading conf files, and crawled pages with unusual charsets."""

import gzip
from pathlib import Path

import pytest

from benchwright.runs.project_conf import conf_mistake
from hostile.readers import documents

BENCHMARK = "_benchmarks:\n  toy:\n    name: toy\n"
FILES = {
    "a tag that runs code": (
        BENCHMARK + "    title: !!python/object/apply:os.mkdir [MARKER]\n",
        "could not determine a constructor",
    ),
    "tabs": ("_benchmarks:\n\ttoy: x\n", "cannot start any token"),
    "a name twice": (BENCHMARK + "    name: other\n", "found duplicate key name"),
    "lists in lists": ("a: " + "[" * 5_000, "toy.yml"),
    "lists of lists": (
        "a: &a [x, x, x, x, x, x, x, x, x]\n"
        + "".join(
            f"{n}: &{n} [{', '.join([f'*{o}'] * 9)}]\n"
            for o, n in zip("abcdefg", "bcdefgh", strict=True)
        ),
        "expansion exceeds",
    ),
    "a number for a benchmark": (
        "_benchmarks: {toy: 3}\n",
        "_benchmarks.toy: expected a mapping, got 3",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_broken_conf_file_is_reported_with_its_line(name: str, tmp_path: Path) -> None:
    content, message = FILES[name]
    marker = tmp_path / "marker"
    file = tmp_path / "conf" / "base" / "toy.yml"
    file.parent.mkdir(parents=True)
    file.write_text(content.replace("MARKER", str(marker)), encoding="utf-8")
    line = conf_mistake(tmp_path, AttributeError("'list' object has no attribute 'items'"))
    assert line is not None
    assert line.startswith(f"{file}: ")
    assert message in line
    assert len(line) < 500
    assert not marker.exists()


def test_bytes_that_are_not_text_are_reported(tmp_path: Path) -> None:
    file = tmp_path / "conf" / "toy.yml"
    file.parent.mkdir()
    file.write_bytes(BENCHMARK.encode("utf-16"))
    line = conf_mistake(tmp_path, ValueError())
    assert line == f"{file}: not valid UTF-8 (byte 0xff); save the file as UTF-8"


def page(charset: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset={charset}\r\n\r\n".encode()
    record = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\n"
        "WARC-Record-ID: <urn:x>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(head + body)}"
    )
    return record.encode() + b"\r\n\r\n" + head + body + b"\r\n\r\n"


@pytest.mark.parametrize("charset", ["undefined", "rot13", "\x00"])
def test_an_unsuitable_charset_loses_no_page(tmp_path: Path, charset: str) -> None:
    path = tmp_path / "x.warc.gz"
    long = b"<p>a-" + b"b" * 300_000
    pages = [page(charset, long), page("iso-8859-1", b"<p>caf\xe9")]
    path.write_bytes(b"".join(map(gzip.compress, pages)))
    assert [row["text"] for row in documents(path)] == [long.decode(), "<p>café"]
