"""The store of scores: a folder of small Parquet files with checksums in their names.

The store only grows: files are written atomically and never changed or removed, so that concurrent
runs can share a folder.
"""

import contextlib
import hashlib
import io
import logging
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from kedro.io import AbstractDataset

from benchwright.core.atomic_files import aside_of, clear_abandoned, locked_path
from benchwright.core.errors import InputError

logger = logging.getLogger(__name__)

_DIGEST_BYTES = 8
_SHARD = re.compile(r"([^.].*)-[0-9a-f]{16}\.parquet")
_ASIDE = re.compile(r"\..+-[0-9a-f]{16}\.parquet\.[0-9a-f]{8}-[0-9a-f]{32}\.tmp")


class StoredShards(Mapping[str, pd.DataFrame]):
    """The shards in a folder, read on access; shards can be added.

    An incomplete, altered or unreadable file counts as missing and causes a warning. If concurrent
    runs wrote several files of one shard, the first by name is read. Names are listed at loading;
    files are checked when they are read.
    """

    def __init__(self, folder: Path, files: dict[str, list[str]]) -> None:
        self._folder = folder
        self._files = files

    def __getitem__(self, name: str) -> pd.DataFrame:
        files = self._files[name]
        while files:
            file = self._folder / files[0]
            try:
                return pd.read_parquet(io.BytesIO(_checked_content(file)))
            except (OSError, ValueError) as error:
                logger.warning("%s is ignored; its prompts are scored again: %s", file, error)
                del files[0]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def add(self, name: str, frame: pd.DataFrame) -> None:
        """Write a shard, and remove incomplete files of the same shard.

        Raises:
            InputError: the folder cannot be written; its content is unchanged.
        """
        buffer = io.BytesIO()
        frame.to_parquet(buffer, index=False)
        content = buffer.getvalue()
        file = f"{name}-{_digest(name, content)}.parquet"
        try:
            _write(self._folder / file, content)
        except OSError as error:
            raise InputError(
                f"{self._folder / file} cannot be written: {error.strerror or error}; the next run "
                "continues from the shards that are saved"
            ) from error
        others = [other for other in self._files.get(name, []) if other != file]
        self._files[name] = sorted([file, *filter(self._is_complete, others)])

    def _is_complete(self, file: str) -> bool:
        """Return whether a file is complete; remove it if it is not."""
        try:
            _checked_content(self._folder / file)
        except ValueError:
            with contextlib.suppress(OSError):
                (self._folder / file).unlink(missing_ok=True)
            return False
        except OSError:  # an unreadable file may be complete
            return False
        return True


class ScoreStore(AbstractDataset[dict[str, pd.DataFrame], StoredShards]):
    """A folder of shards, `<shard>-<checksum of name and content>.parquet`.

    A missing folder is an empty mapping. Saving adds shards atomically: a killed run leaves
    complete shards and temporary files that the next run removes. Two catalog entries may share a
    folder, since a node cannot have the same dataset as input and output. A node that reads the
    store can add to it (`StoredShards.add`).
    """

    def __init__(self, path: str, metadata: dict[str, Any] | None = None) -> None:
        self._folder = Path(path)
        self._shards: StoredShards | None = None
        self.metadata = metadata

    def load(self) -> StoredShards:
        """Return the shards by name; each is read on access."""
        shards, aside = _listed(self._folder)
        clear_abandoned(self._folder / name for name in aside)
        return StoredShards(self._folder, shards)

    def save(self, data: dict[str, pd.DataFrame]) -> None:
        """Add shards (name → table), and remove incomplete files of the same shards.

        Raises:
            InputError: the folder cannot be written; its content is unchanged.
        """
        if self._shards is None:
            self._shards = StoredShards(self._folder, _listed(self._folder)[0])
        for name, frame in data.items():
            self._shards.add(name, frame)

    def _exists(self) -> bool:
        # Only the node knows whether scores are missing, so it must not be skipped.
        return False

    def _describe(self) -> dict[str, Any]:
        return {"path": str(self._folder)}


def _listed(folder: Path) -> tuple[dict[str, list[str]], list[str]]:
    """Return the files of each shard by name, and temporary files."""
    shards: dict[str, list[str]] = {}
    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except FileNotFoundError:
        return {}, []
    except NotADirectoryError:
        raise InputError(f"{folder} is a file, not the folder of a score store") from None
    for name in names:
        if shard := _SHARD.fullmatch(name):
            shards.setdefault(shard[1], []).append(name)
    return shards, [name for name in names if _ASIDE.fullmatch(name)]


def _checked_content(file: Path) -> bytes:
    """Return the content of a file; raise ValueError or OSError if it is incomplete."""
    content = file.read_bytes()
    shard, _, digest = file.stem.rpartition("-")
    if _digest(shard, content) != digest:
        raise ValueError("the content does not match the checksum in the file name")
    return content


def _digest(name: str, content: bytes) -> str:
    """Return a checksum of the shard's name and content."""
    hashed = hashlib.blake2b(f"{name}\n".encode(), digest_size=_DIGEST_BYTES)
    hashed.update(content)
    return hashed.hexdigest()


def _write(target: Path, content: bytes) -> None:
    """Write a temporary file, locked during writing, and rename it."""
    aside = aside_of(target)
    try:
        with locked_path(aside):
            aside.write_bytes(content)
            with aside.open("rb") as written:
                os.fsync(written.fileno())
            aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)


class MemoryShards(StoredShards):
    """Shards in the memory of this process; a pickled copy is empty."""

    def __init__(self) -> None:
        super().__init__(Path(), {})
        self._frames: dict[str, pd.DataFrame] = {}

    def __getitem__(self, name: str) -> pd.DataFrame:
        return self._frames[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)

    def __repr__(self) -> str:
        return f"MemoryShards({len(self)} shards)"

    def __reduce__(self) -> tuple[type["MemoryShards"], tuple[()]]:
        return MemoryShards, ()

    def add(self, name: str, frame: pd.DataFrame) -> None:
        """Keep a shard in memory, replacing one of the same name."""
        self._frames[name] = frame
