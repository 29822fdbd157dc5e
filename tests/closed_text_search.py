"""Look for text of closed questions in everything that a run wrote."""

import gzip
import html
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchwright.methods.mmlu_cf.sealing.safe_errors import word_sequences

_TOKEN = re.compile(r"\w+")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_CONTROL = re.compile(r"\\[nrt\"/]")
_TAG = re.compile(r"<[^<>]{1,200}>")


class Found(NamedTuple):
    """How many of the looked-for word sequences a file holds; never which."""

    file: Path
    sequences: int


def files_with(
    folder: Path, closed: Iterable[str], public: Iterable[str] = (), words: int = 5
) -> list[Found]:
    """Files below a folder that hold a run of words of a closed text.

    Parquet and gzip files are unpacked; escapes and tags are undone; databases and other files
    are read as bytes. Encrypted contents cannot be looked into.

    Args:
        folder: looked through with all its folders, hidden ones too.
        closed: texts that must not occur.
        public: texts whose runs of words may occur.
        words: of a run.
    """
    wanted = word_sequences(closed, words)
    lengths = {len(sequence) for sequence in wanted}
    for text in public:
        wanted -= _in_text(wanted, lengths, text)
    hits = []
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        seen: set[tuple[str, ...]] = set()
        for text in _texts(file):
            seen |= _in_text(wanted, lengths, text)
        if seen:
            hits.append(Found(file, len(seen)))
    return hits


def _in_text(
    wanted: set[tuple[str, ...]], lengths: Iterable[int], text: str
) -> set[tuple[str, ...]]:
    tokens = _TOKEN.findall(text.casefold())
    return {
        run
        for length in lengths
        for run in zip(*(tokens[i:] for i in range(length)), strict=False)
        if run in wanted
    }


def _texts(file: Path) -> Iterator[str]:
    """What a file may say: as it is, and without escapes and tags."""
    for text in _contents(file):
        yield text
        plain = _ESCAPE.sub(lambda seen: chr(int(seen[1], 16)), _CONTROL.sub(" ", text))
        yield html.unescape(_TAG.sub(" ", plain))


def _contents(file: Path) -> Iterator[str]:
    data = file.read_bytes()
    if data[:4] == b"PAR1":
        import pyarrow.parquet as pq

        rows = pq.read_table(file).to_pylist()
        yield "\n".join(str(value) for row in rows for value in row.values())
        return
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    for encoding in ("utf-8", "utf-16-le"):
        yield data.decode(encoding, errors="ignore")
