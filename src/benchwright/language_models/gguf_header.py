"""The header of a GGUF file, read within the file's own size.

The `gguf` package trusts the lengths in a file: one array that claims 2^57 entries keeps it busy
forever. So all lengths are first checked against the file's size. Layout: GGUF versions 2 and 3,
little-endian (docs/gguf.md of the ggml project).
"""

import math
import mmap
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from benchwright.core.errors import InputError

_SCALARS: Final[Mapping[int, str]] = {
    **dict(enumerate("BbHhIif?")),
    **dict(enumerate("Qqd", start=10)),
}
_STRING, _ARRAY = 8, 9
_DEEPEST = 4
_MOST_DIMENSIONS = 8
_ALIGNMENT = 32


def gguf_fields(file: Path) -> dict[str, Any]:
    """Return the scalars and texts of a GGUF file; for a list, its length.

    Raises:
        InputError: the file is no GGUF file, incomplete, or states lengths beyond its end.
    """
    try:
        with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as m:
            return _Walk(m).fields()
    except (OSError, ValueError, struct.error) as error:
        message = " ".join(str(error).split())[:120]
        raise InputError(
            f"{file}: is no complete GGUF file of version 2 or 3 ({message}); download it again"
        ) from error


class _Walk:
    """A walk over the bytes from the front; ValueError or struct.error where they do not fit."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._at = 0

    def fields(self) -> dict[str, Any]:
        magic, version, tensors, count = self._unpack("<4sIQQ")
        if magic != b"GGUF" or version not in (2, 3):
            raise ValueError(f"it begins with {magic!r}, version {version}")
        self._require(count, 13)
        fields = {}
        for _ in range(count):
            name = self._text()
            if name in fields:
                raise ValueError(f"{name[:40]!r} is there twice")
            fields[name] = self._value(self._unpack("<I")[0], _DEEPEST)
        self._require(tensors, 24)
        ends = [self._tensor_end() for _ in range(tensors)]
        alignment = fields.get("general.alignment", _ALIGNMENT)
        if not isinstance(alignment, int) or alignment < 1:
            raise ValueError(f"general.alignment is {alignment!r:.40}")
        start = math.ceil(self._at / alignment) * alignment
        if ends and start + max(ends) > len(self._content):
            raise ValueError(f"it ends before its last tensor, at {len(self._content):,} bytes")
        return fields

    def _require(self, count: int, least: int) -> None:
        """Refuse more entries than can lie in the remaining bytes."""
        if count * least > len(self._content) - self._at:
            raise ValueError(f"it states {count:,} entries in {len(self._content):,} bytes")

    def _unpack(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(form, self._content, self._at)
        self._at += struct.calcsize(form)
        return values

    def _text(self) -> str:
        length = self._unpack("<Q")[0]
        self._require(length, 1)
        self._at += length
        return self._content[self._at - length : self._at].decode()

    def _value(self, kind: int, depth: int) -> Any:
        if kind == _STRING:
            return self._text()
        if kind in _SCALARS:
            return self._unpack(f"<{_SCALARS[kind]}")[0]
        if kind != _ARRAY or depth == 0:
            raise ValueError(f"type {kind} is not known")
        inner, count = self._unpack("<IQ")
        if inner in _SCALARS:
            size = struct.calcsize(f"<{_SCALARS[inner]}")
            self._require(count, size)
            self._at += count * size
            return count
        self._require(count, 8)
        for _ in range(count):
            self._value(inner, depth - 1)
        return count

    def _tensor_end(self) -> int:
        """Return the end of a tensor, from the start of the data."""
        from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

        self._text()
        dimensions = self._unpack("<I")[0]
        if dimensions > _MOST_DIMENSIONS:
            raise ValueError(f"a tensor of {dimensions:,} dimensions")
        *shape, kind, offset = self._unpack(f"<{dimensions}QIQ")
        block, size = GGML_QUANT_SIZES[GGMLQuantizationType(kind)]
        return int(offset) + math.prod(shape) * size // block
