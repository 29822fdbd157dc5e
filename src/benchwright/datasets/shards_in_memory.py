"""What judges said of questions that must not be written to disk."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from benchwright.datasets.score_store import StoredShards


class ShardsInMemory(StoredShards):
    """Shards that are gone with the process; a killed run asks again."""

    def __init__(self) -> None:
        super().__init__(Path(), {})
        self._frames: dict[str, pd.DataFrame] = {}

    def __getitem__(self, name: str) -> pd.DataFrame:
        return self._frames[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)

    def add(self, name: str, frame: pd.DataFrame) -> None:
        """Keep a shard."""
        self._frames[name] = frame
