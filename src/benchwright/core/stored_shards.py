"""Shards: small Parquet files with checksums in their names, to which others can be added.

They only grow: files are written atomically and never changed or removed, so that concurrent runs
can share a folder.
"""

import hashlib
import io
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from benchwright.core.atomic_files import written_aside

logger = logging.getLogger(__name__)

_DIGEST_BYTES = 8


class StoredShards(Mapping[str, pd.DataFrame]):
    """The shards in a folder, read on access; shards can be added.

    An incomplete or altered file counts as missing, with a warning. If concurrent runs wrote
    several files of one shard, the first by name is read.
    """

    def __init__(self, folder: Path, files: dict[str, list[str]]) -> None:
        self._folder = folder
        self._files = files

    def __getitem__(self, name: str) -> pd.DataFrame:
        files = self._files[name]
        while files:
            file = self._folder / files[0]
            try:
                content = file.read_bytes()
                shard, _, digest = file.stem.rpartition("-")
                if _digest(shard, content) != digest:
                    raise ValueError("the content does not match the checksum in the file name")
                return pd.read_parquet(io.BytesIO(content))
            except (OSError, ValueError) as error:
                logger.warning("%s is ignored; its prompts are scored again: %s", file, error)
                del files[0]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def add(self, name: str, frame: pd.DataFrame) -> None:
        """Write a shard; InputError if the folder cannot be written, whose content is unchanged."""
        content = frame.to_parquet(index=False)
        file = f"{name}-{_digest(name, content)}.parquet"
        with written_aside(self._folder / file) as aside:
            aside.write_bytes(content)
        self._files[name] = sorted({file, *self._files.get(name, [])})


class MemoryShards(StoredShards):
    """Shards in the memory of this process; a pickled copy is empty."""

    def __init__(self) -> None:
        super().__init__(Path(), {})
        self._frames: dict[str, pd.DataFrame] = {}

    def __getitem__(self, name: str) -> pd.DataFrame:
        return self._frames[name]

    def __repr__(self) -> str:
        return f"MemoryShards({len(self)} shards)"

    def __reduce__(self) -> tuple[type["MemoryShards"], tuple[()]]:
        return MemoryShards, ()

    def add(self, name: str, frame: pd.DataFrame) -> None:
        """Keep a shard in memory, replacing one of the same name."""
        self._files[name] = []
        self._frames[name] = frame


def _digest(name: str, content: bytes) -> str:
    return hashlib.blake2b(f"{name}\n".encode() + content, digest_size=_DIGEST_BYTES).hexdigest()
