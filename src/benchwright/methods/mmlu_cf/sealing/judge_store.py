"""Where judges' replies are kept during a run, and between runs that were killed."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from kedro.io import AbstractDataset

from benchwright.core.errors import InputError
from benchwright.datasets.memory_store import MemoryShards
from benchwright.datasets.score_store import StoredShards
from benchwright.methods.mmlu_cf.sealing.key import read_key
from benchwright.methods.mmlu_cf.sealing.sealed_shards import SealedShards
from benchwright.params.sealing import SealingParams

logger = logging.getLogger(__name__)


class JudgeStore(AbstractDataset[dict[str, pd.DataFrame], StoredShards]):
    """One store for all nodes of a run in this process: encrypted on disk, or in memory.

    On disk (`sealing.judge_store: encrypted`) a run that was killed goes on where it was. Without
    a key, which only pipelines that seal nothing do without, replies stay in memory.

    Args:
        folder: of the encrypted shards; several benchmarks may share it.
        sealing: the section of conf: name, place of the key, `judge_store`.
        metadata: for plugins.
    """

    def __init__(
        self,
        folder: str,
        sealing: Mapping[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self._folder = Path(folder)
        self._sealing = dict(sealing or {})
        self._shards: StoredShards | None = None
        self.metadata = metadata

    def load(self) -> StoredShards:
        """The shards, the same object at each load.

        Raises:
            ValueError: the section of conf is not valid.
        """
        if self._shards is None:
            self._shards = self._opened()
        return self._shards

    def save(self, data: dict[str, pd.DataFrame]) -> None:
        """Add shards (name → table)."""
        for name, frame in data.items():
            self.load().add(name, frame)

    def _opened(self) -> StoredShards:
        params = SealingParams.model_validate(self._sealing)
        if params.judge_store == "memory":
            return MemoryShards()
        try:
            key = read_key(params)
        except InputError:
            logger.info("no key: what judges say is kept in memory, and asked again by other runs")
            return MemoryShards()
        return SealedShards(self._folder, key, params.name)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_shards": None}  # neither a key nor replies go to other processes

    def _exists(self) -> bool:
        # Whether the replies of a run are all there only the node knows: never skip it.
        return False

    def _describe(self) -> dict[str, Any]:
        return {"folder": str(self._folder)}
