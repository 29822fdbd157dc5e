"""The store of scores: a folder of small Parquet files, each checked by its name."""

import hashlib
import io
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from kedro.io import AbstractDataset

from benchwright.datasets.atomic import written_aside

logger = logging.getLogger(__name__)

_DIGEST_BYTES = 8


class StoredShards(Mapping[str, pd.DataFrame]):
    """The shards in a folder, read one by one when asked for.

    A shard that is torn, altered or unreadable counts as absent, with a warning.
    """

    def __init__(self, folder: Path) -> None:
        self._files: dict[str, list[Path]] = {}
        for file in sorted(folder.glob("*.parquet")):
            self._files.setdefault(file.stem.rpartition("-")[0], []).append(file)

    def __getitem__(self, name: str) -> pd.DataFrame:
        for file in self._files[name]:
            try:
                return _read(file)
            except (OSError, ValueError) as error:
                logger.warning("%s is left out and scored again: %s", file, error)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


class ScoreStore(AbstractDataset[dict[str, pd.DataFrame], StoredShards]):
    """A folder of shards, `<shard>-<checksum of the file>.parquet`.

    Loading an absent or empty folder gives an empty mapping. Saving adds shards to the folder;
    each is written aside and renamed, so a killed run leaves whole shards only. Two catalog names
    may share a folder: a node cannot have the same dataset as input and output.

    Args:
        path: the folder.
        metadata: for plugins.
    """

    def __init__(self, path: str, metadata: dict[str, Any] | None = None) -> None:
        self._folder = Path(path)
        self.metadata = metadata

    def load(self) -> StoredShards:
        """The shards by name, read when asked for."""
        return StoredShards(self._folder)

    def save(self, data: dict[str, pd.DataFrame]) -> None:
        """Add shards (name → table); a shard of the same name is replaced."""
        for name, frame in data.items():
            buffer = io.BytesIO()
            frame.to_parquet(buffer, index=False)
            content = buffer.getvalue()
            target = self._folder / f"{name}-{_digest(content)}.parquet"
            with written_aside(target) as aside:
                aside.write_bytes(content)
            for other in self._folder.glob(f"{name}-*.parquet"):
                if other != target:
                    other.unlink(missing_ok=True)

    def _exists(self) -> bool:
        # Whether the scores of a run are all there only the node knows: never skip it.
        return False

    def _describe(self) -> dict[str, Any]:
        return {"path": str(self._folder)}


def _read(file: Path) -> pd.DataFrame:
    content = file.read_bytes()
    if _digest(content) != file.stem.rpartition("-")[2]:
        raise ValueError("its content is not what its name says")
    return pd.read_parquet(io.BytesIO(content))


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()
