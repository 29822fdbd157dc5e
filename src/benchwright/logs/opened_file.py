"""A file that is opened once: to be recognised by its first bytes, and to read what it states."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

HEAD = 1 << 16
"""Bytes of a file by which it is recognised."""


@dataclass(frozen=True)
class OpenedFile:
    """A file, or a folder, which has no stream and an empty head."""

    path: Path
    head: bytes = b""
    stream: IO[bytes] | None = None


@contextmanager
def opened_file(path: Path) -> Iterator[OpenedFile]:
    """Open a file, or name a folder."""
    if not path.is_file():
        yield OpenedFile(path)
        return
    with path.open("rb") as stream:
        yield OpenedFile(path, stream.read(HEAD), stream)


@contextmanager
def bytes_of(file: Path | OpenedFile) -> Iterator[IO[bytes]]:
    """Yield the bytes of a file from its start; a path is opened, and closed again."""
    if isinstance(file, Path):
        with file.open("rb") as stream:
            yield stream
        return
    if file.stream is not None:
        file.stream.seek(0)
    yield file.stream or io.BytesIO()


@contextmanager
def text_of(file: Path | OpenedFile) -> Iterator[IO[str]]:
    """Yield the text of a file in UTF-8 from its start, as `bytes_of`."""
    with bytes_of(file) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig")
        try:
            yield text
        finally:
            text.detach()  # else the stream would be closed with it


def path_of(file: Path | OpenedFile) -> Path:
    """Return the path of a file."""
    return file if isinstance(file, Path) else file.path
