"""Judges' replies on disk during a run, encrypted under the key that seals the closed half.

A shard is a file `<keyed hash of its name>.shard`: a random nonce, then AES-256-GCM over Parquet,
with the shard's name authenticated. Names of shards are hashes of prompts, against which a guess
could be checked: hence the keyed hash (HMAC-SHA-256). Scrypt derives the key once per run, with a
salt from the benchmark's name. Sizes and times of files are visible.
"""

import hashlib
import io
import logging
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from kedro.io import AbstractDataset

from benchwright.core.atomic_files import written_aside
from benchwright.core.errors import InputError
from benchwright.core.seeding import keyed_bytes
from benchwright.core.stored_shards import MemoryShards, StoredShards
from benchwright.methods.mmlu_cf.sealing.key import SealKey, read_key, subkey
from benchwright.params.mmlu_cf import SealingParams

logger = logging.getLogger(__name__)

SUFFIX = ".shard"
_NONCE = 12


class SealedShards(StoredShards):
    """Shards by name, as `StoredShards`, each encrypted; none stays in memory.

    An incomplete or altered file counts as absent and causes a warning; files under another key
    have other names. Nothing is derived before the first use. The folder is created if absent; the
    name of the benchmark is part of the salt. Shards cannot be listed.
    """

    def __init__(self, folder: Path, key: SealKey, name: str) -> None:
        super().__init__(folder, {})
        self._key = key
        self._salt = hashlib.sha256(f"benchwright judge store\x1f{name}".encode()).digest()

    def __repr__(self) -> str:
        return "SealedShards(…)"

    def __reduce__(self) -> str:
        raise TypeError("a key cannot be pickled")

    @cached_property
    def _keys(self) -> tuple[Any, bytes]:
        """The cipher of contents, and the key of file names."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        derived = self._key.derived(self._salt)
        return AESGCM(subkey(derived, "shards")), subkey(derived, "names")

    def __getitem__(self, name: str) -> pd.DataFrame:
        from cryptography.exceptions import InvalidTag

        file = self._file(name)
        if not file.is_file():
            raise KeyError(name)
        try:
            data = file.read_bytes()
            plain = self._keys[0].decrypt(data[:_NONCE], data[_NONCE:], name.encode())
        except (OSError, ValueError, InvalidTag) as error:
            logger.warning("%s is incomplete or altered (%s): ignored", file, type(error).__name__)
            raise KeyError(name) from None
        return pd.read_parquet(io.BytesIO(plain))

    def add(self, name: str, frame: pd.DataFrame) -> None:
        """Encrypt and write a shard at once, replacing one of the same name.

        Raises:
            InputError: the folder is not writable; its files stay as they were.
        """
        nonce = os.urandom(_NONCE)
        plain = frame.to_parquet(index=False)
        sealed = self._keys[0].encrypt(nonce, plain, name.encode())
        with written_aside(self._file(name)) as aside:
            aside.write_bytes(nonce + sealed)

    def _file(self, name: str) -> Path:
        return self._folder / f"{keyed_bytes(self._keys[1], 'shard', name).hex()[:32]}{SUFFIX}"


class JudgeStore(AbstractDataset[dict[str, pd.DataFrame], StoredShards]):
    """One store for all nodes of a run in this process, encrypted on disk.

    A killed run continues where it stopped. Without a key, which only pipelines that seal nothing
    may lack, replies are kept in memory. Several benchmarks may share the folder. `sealing` is the
    section of conf.
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
        """Return the shards, the same object at each load.

        Raises:
            ValueError: the section of conf is invalid.
        """
        if self._shards is None:
            params = SealingParams.model_validate(self._sealing)
            try:
                self._shards = SealedShards(self._folder, read_key(params), params.name)
            except InputError:
                logger.info("no key: judges' replies are kept in memory only")
                self._shards = MemoryShards()
        return self._shards

    def save(self, data: dict[str, pd.DataFrame]) -> None:
        """Add shards (name → table)."""
        for name, frame in data.items():
            self.load().add(name, frame)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_shards": None}  # neither a key nor replies go to other processes

    def _exists(self) -> bool:
        return False  # only a node knows whether all replies are there, so it is never skipped

    def _describe(self) -> dict[str, Any]:
        return {"folder": str(self._folder)}
