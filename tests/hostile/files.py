"""Invalid file contents by kind of fault."""

import bz2
import gzip
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa


class Planted:
    """An object whose unpickling creates a folder."""

    def __init__(self, marker: Path) -> None:
        self._marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self._marker),)


def planted(marker: Path) -> bytes:
    """Return a pickle whose loading creates a folder."""
    return pickle.dumps(Planted(marker))


def zstd(content: bytes) -> bytes:
    """Return the compressed content."""
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "zstd") as stream:
        stream.write(content)
    return bytes(out.getvalue().to_pybytes())


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": zstd,
}
_NAMES = "item_id,model,correct,rule,verdict,rating,sba,name,avg,id,question,A,B,gold"
_CELLS = "q1,m,1,r,v,1,1,n,1,1,q,a,b,0"
KINDS: dict[str, bytes] = {
    "nothing": b"",
    "an empty line": b"\n",
    "NUL bytes": b"\0" * 64,
    "UTF-16": f"{_NAMES}\n{_CELLS}\n".encode("utf-16"),
    "UTF-16 without a mark": f"{_NAMES}\n{_CELLS}\n".encode("utf-16-le"),
    "stray bytes in a cell": f"{_NAMES}\n{_CELLS}\n".encode().replace(b",q,", b",\xff\xfe,"),
    "stray bytes in JSON": b'{"a": "\xff"}\n',
    "lists in lists": b"[" * 200_000,
    "objects in objects": b'{"a":' * 100_000,
    "a number of 5,000 digits": b"9" * 5_000,
    "JSON that is no object": b"[1, null, NaN]\n",
    "an object without fields": b"{}\n",
    "a web page": b"<!doctype html><html><body>404 not found</body></html>",
    "the ends of a Parquet file": b"PAR1" + b"\xff" * 64 + b"PAR1",
    "semicolons": f"{_NAMES}\n{_CELLS}\n".replace(",", ";").encode(),
    "a column twice": b"item_id,item_id,model,model,id,id,name,name,rating\n1,2,3,4,5,6,7,8,9\n",
    "other columns": b"a,b,c\n1,2,3\n",
    "an open quote": f"{_NAMES}\n{_CELLS},\n".replace(",m,", ',"m,').encode() + _CELLS.encode(),
    "more cells than columns": f"{_NAMES}\n{_CELLS},more\n".encode(),
}
"""Contents by fault, with column names that the readers require."""
