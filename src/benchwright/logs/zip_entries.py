"""Read entries of zip files within limits, also those compressed with Zstandard."""

import io
import json
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from benchwright.core.errors import InputError
from benchwright.core.verbatim import BROKEN

ZSTANDARD = 93
"""Compression method that `zipfile` does not know before Python 3.14."""
LARGEST_ENTRY = 1 << 30
_LOCAL_HEADER = struct.Struct("<26xHH")


class ZipEntries:
    """The entries of a zip file by name; of two with one name, the later one counts."""

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        self.path = path
        self._stream = stream
        self._zip = zipfile.ZipFile(stream)
        self._infos = {info.filename: info for info in self._zip.infolist()}

    def names(self) -> list[str]:
        """Return the names in the order of the file."""
        return list(self._infos)

    def __contains__(self, name: str) -> bool:
        return name in self._infos

    def json(self, name: str) -> Any:
        """Parse an entry; NaN and Infinity are numbers.

        Raises:
            InputError: it is encrypted, broken, too large, or not JSON.
        """
        entry = f"{self.path}: {' '.join(name[:100].split())}"
        try:
            with self._opened(self._infos[name]) as stream:
                text = stream.read(LARGEST_ENTRY + 1)
            content = json.loads(text) if len(text) <= LARGEST_ENTRY else None
        except (*BROKEN, RuntimeError, zipfile.BadZipFile) as error:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise InputError(f"{entry}: cannot be read: {reason}; copy the log again") from error
        if len(text) > LARGEST_ENTRY:
            raise InputError(f"{entry}: more than {LARGEST_ENTRY:,} bytes; remove the sample")
        return content

    @contextmanager
    def _opened(self, info: zipfile.ZipInfo) -> Iterator[Any]:
        if info.compress_type != ZSTANDARD:
            with self._zip.open(info) as stream:
                yield stream
            return
        self._stream.seek(info.header_offset)
        names = _LOCAL_HEADER.unpack(self._stream.read(_LOCAL_HEADER.size))
        self._stream.seek(sum(names), io.SEEK_CUR)
        packed = pa.BufferReader(self._stream.read(info.compress_size))
        yield pa.CompressedInputStream(packed, "zstd")  # several frames follow each other


@contextmanager
def zip_entries(path: Path) -> Iterator[ZipEntries]:
    """Open a zip file.

    Raises:
        InputError: it is not a whole zip file.
    """
    with path.open("rb") as stream:
        try:
            entries = ZipEntries(path, stream)
        except (*BROKEN, zipfile.BadZipFile, RuntimeError) as error:
            raise InputError(
                f"{path}: not a whole zip file ({error}); copy the log again"
            ) from error
        yield entries
