"""A store of replies in memory: what a model was told and said reaches no file."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from benchwright.datasets.score_store import StoredShards


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

    def __contains__(self, name: object) -> bool:
        return name in self._frames

    def __repr__(self) -> str:
        return f"MemoryShards({len(self)} shards)"

    def __reduce__(self) -> tuple[type["MemoryShards"], tuple[()]]:
        return MemoryShards, ()

    def add(self, name: str, frame: pd.DataFrame) -> None:
        """Keep a shard until the process ends; one of the same name makes way."""
        self._frames[name] = frame
