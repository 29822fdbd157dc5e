"""The store of scores: a folder of small Parquet files, each checked by its name.

The store only grows: a file is written aside and renamed, and nothing that is whole is ever
changed or removed. So any number of runs may use one folder at once.
"""

import contextlib
import hashlib
import io
import logging
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from kedro.io import AbstractDataset

from benchwright.core.atomic_files import aside_of, clear_abandoned, held
from benchwright.core.errors import InputError

logger = logging.getLogger(__name__)

_DIGEST_BYTES = 8
_SHARD = re.compile(r"([^.].*)-[0-9a-f]{16}\.parquet")
_ASIDE = re.compile(r"\..+-[0-9a-f]{16}\.parquet\.[0-9a-f]{8}-[0-9a-f]{32}\.tmp")


class StoredShards(Mapping[str, pd.DataFrame]):
    """The shards in a folder, read one by one when asked for; more may be added.

    A file that is torn, altered or unreadable counts as absent, with one warning. Of several whole
    files of one shard (runs that scored it at the same time, their last bits apart) the first by
    name is read, whichever was there first. The names are those of the folder when it was listed;
    whether a shard is whole shows when it is read.
    """

    def __init__(self, folder: Path, files: dict[str, list[str]]) -> None:
        self._folder = folder
        self._files = files

    def __getitem__(self, name: str) -> pd.DataFrame:
        files = self._files[name]
        while files:
            file = self._folder / files[0]
            try:
                return pd.read_parquet(io.BytesIO(_whole(file)))
            except (OSError, ValueError) as error:
                logger.warning("%s is left out and scored again: %s", file, error)
                del files[0]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def add(self, name: str, frame: pd.DataFrame) -> None:
        """Write a shard at once; torn files of the same shard go.

        Raises:
            InputError: the folder cannot be written to; what it held is left as it was.
        """
        buffer = io.BytesIO()
        frame.to_parquet(buffer, index=False)
        content = buffer.getvalue()
        file = f"{name}-{_digest(name, content)}.parquet"
        try:
            _write(self._folder / file, content)
        except OSError as error:
            raise InputError(
                f"{self._folder / file} cannot be written: {error.strerror or error}; what was "
                "saved before is kept, and a run that is started again goes on from there"
            ) from error
        others = [other for other in self._files.get(name, []) if other != file]
        self._files[name] = sorted([file, *filter(self._kept, others)])

    def _kept(self, file: str) -> bool:
        """Whether a file is whole; a torn one is removed where it can be."""
        try:
            _whole(self._folder / file)
        except ValueError:
            with contextlib.suppress(OSError):
                (self._folder / file).unlink(missing_ok=True)
            return False
        except OSError:  # not readable is not torn
            return False
        return True


class ScoreStore(AbstractDataset[dict[str, pd.DataFrame], StoredShards]):
    """A folder of shards, `<shard>-<checksum of name and content>.parquet`.

    Loading an absent or empty folder gives an empty mapping. Saving adds shards to the folder;
    each is written aside and renamed, so a killed run leaves whole shards only; what it left aside
    the next run clears away. Two catalog names may share a folder: a node cannot have the same
    dataset as input and output. A node that reads the store may also add to what it is given,
    as to a cache (`StoredShards.add`).

    Args:
        path: the folder.
        metadata: for plugins.
    """

    def __init__(self, path: str, metadata: dict[str, Any] | None = None) -> None:
        self._folder = Path(path)
        self._shards: StoredShards | None = None
        self.metadata = metadata

    def load(self) -> StoredShards:
        """The shards by name, read when asked for."""
        found = _listed(self._folder)
        clear_abandoned(self._folder / name for name in found.aside)
        return StoredShards(self._folder, found.shards)

    def save(self, data: dict[str, pd.DataFrame]) -> None:
        """Add shards (name → table); torn files of the same shards go.

        Raises:
            InputError: the folder cannot be written to; what it held is left as it was.
        """
        if self._shards is None:
            self._shards = StoredShards(self._folder, _listed(self._folder).shards)
        for name, frame in data.items():
            self._shards.add(name, frame)

    def _exists(self) -> bool:
        # Whether the scores of a run are all there only the node knows: never skip it.
        return False

    def _describe(self) -> dict[str, Any]:
        return {"path": str(self._folder)}


class _Listed(NamedTuple):
    """Files of a folder: those of each shard by name, and those written aside."""

    shards: dict[str, list[str]]
    aside: list[str]


def _listed(folder: Path) -> _Listed:
    """One look at the folder; files that are not the store's own are left out."""
    found = _Listed({}, [])
    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except FileNotFoundError:
        return found
    except NotADirectoryError:
        raise InputError(f"{folder} is a file; the store of scores needs a folder there") from None
    for name in names:
        if shard := _SHARD.fullmatch(name):
            found.shards.setdefault(shard[1], []).append(name)
        elif _ASIDE.fullmatch(name):
            found.aside.append(name)
    return found


def _whole(file: Path) -> bytes:
    """The content of a file, which is what its name says.

    Raises ValueError or OSError where it is not.
    """
    content = file.read_bytes()
    shard, _, digest = file.stem.rpartition("-")
    if _digest(shard, content) != digest:
        raise ValueError("its content is not what its name says")
    return content


def _digest(name: str, content: bytes) -> str:
    """A checksum that a file under another shard's name does not have."""
    hashed = hashlib.blake2b(f"{name}\n".encode(), digest_size=_DIGEST_BYTES)
    hashed.update(content)
    return hashed.hexdigest()


def _write(target: Path, content: bytes) -> None:
    """Write aside, then rename; the file aside is locked for as long as its writer lives."""
    aside = aside_of(target)
    try:
        with held(aside):
            aside.write_bytes(content)
            with aside.open("rb") as written:
                os.fsync(written.fileno())
            aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)


class MemoryShards(StoredShards):
    """Shards by name, as `StoredShards`, in this process; a pickled copy is empty."""

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
        """Keep a shard until the process ends; one of the same name makes way."""
        self._frames[name] = frame
