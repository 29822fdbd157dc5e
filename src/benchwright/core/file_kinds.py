"""Kinds of files by their suffixes, in capital or small letters, also packed ones."""

from pathlib import Path, PurePath
from typing import NamedTuple

KINDS = (
    ".parquet",
    ".csv",
    ".tsv",
    ".jsonl",
    ".ndjson",
    ".json",
    ".feather",
    ".arrow",
    ".xlsx",
)
"""Suffixes of tables that are read."""
PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")
"""Suffixes that may follow one of them; `.zip` is an archive with one such file."""
UNREADABLE = (
    ".7z", ".avro", ".br", ".dta", ".eval", ".lz4", ".ods", ".orc", ".pickle", ".pkl", ".rar",
    ".sav", ".sqlite", ".tar", ".tbz2", ".tgz", ".txz", ".xls", ".xlsb",
)  # fmt: skip
"""Suffixes of tables and archives that are not read, and of logs."""


class Kind(NamedTuple):
    """The suffix of a file in small letters, and the one of `PACKED` that follows it, or ""."""

    kind: str
    packed: str = ""


def kind_of(name: str) -> Kind:
    """Return the kind of a file by its name: `.csv` and `.gz` for `a.CSV.gz`."""
    path = PurePath(name.lower())
    if path.suffix not in PACKED:
        return Kind(path.suffix)
    return Kind(PurePath(path.stem).suffix, path.suffix)


def may_hold_rows(name: str) -> bool:
    """Return whether a file of this name may be a table, a log or an archive of these."""
    kind, packed = kind_of(name)
    return bool(packed) or kind in (*KINDS, *UNREADABLE)


def is_there(path: Path) -> bool:
    """Return whether there is a file or folder; False for a name that none can have."""
    try:
        return path.exists()
    except OSError:  # longer than the file system allows
        return False
