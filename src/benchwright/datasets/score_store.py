"""The store of scores: a folder of shards."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
from kedro.io import AbstractDataset

from benchwright.core.atomic_files import clear_abandoned
from benchwright.core.stored_shards import StoredShards

_SHARD = re.compile(r"([^.].*)-[0-9a-f]{16}\.parquet")


class ScoreStore(AbstractDataset[dict[str, pd.DataFrame], StoredShards]):
    """A folder of shards, `<shard>-<checksum of name and content>.parquet`.

    A missing folder is an empty mapping. Two catalog entries share a folder, since a node cannot
    have the same dataset as input and output.
    """

    def __init__(self, path: str, metadata: dict[str, Any] | None = None) -> None:
        self._folder = Path(path)
        self.metadata = metadata

    def load(self) -> StoredShards:
        """Return the shards by name; each is read on access."""
        files: dict[str, list[str]] = {}
        clear_abandoned(self._folder.glob(".*.parquet.*.tmp"))
        for file in sorted(path.name for path in self._folder.glob("*.parquet")):
            shard = _SHARD.fullmatch(file)
            if shard is not None:
                files.setdefault(shard[1], []).append(file)
        return StoredShards(self._folder, files)

    def save(self, data: dict[str, pd.DataFrame]) -> None:
        """Add shards (name → table); see `StoredShards.add`."""
        shards = StoredShards(self._folder, {})
        for name, frame in data.items():
            shards.add(name, frame)

    def _exists(self) -> bool:
        # Only the node knows whether scores are missing, so it must not be skipped.
        return False

    def _describe(self) -> dict[str, Any]:
        return {"path": str(self._folder)}
