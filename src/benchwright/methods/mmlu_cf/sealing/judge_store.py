"""Judges' replies on disk during a run, encrypted under the key that seals the closed half.

A shard is a file `<keyed hash of its name>.shard`: a mark, a check of the key, a random nonce, then
AES-256-GCM over the shard's name and its Parquet bytes. Mark, check and file name are authenticated
too, so a renamed file does not open. Names of shards are hashes of prompts, against which a guess
could be checked: hence the keyed hash (HMAC-SHA-256). Scrypt derives the key once per run, with a
salt from the benchmark's name. Sizes and times of files are visible.
"""

import hashlib
import hmac
import io
import logging
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from kedro.io import AbstractDataset

from benchwright.core.atomic_files import written_aside
from benchwright.core.errors import InputError
from benchwright.datasets.score_store import MemoryShards, StoredShards
from benchwright.methods.mmlu_cf.sealing.key import SealKey, read_key, subkey
from benchwright.params.mmlu_cf import SealingParams

logger = logging.getLogger(__name__)

SUFFIX = ".shard"
_MARK = b"benchwright-shard-1\n"
_CHECK, _NONCE = 8, 12


class _Keys(NamedTuple):
    cipher: bytes
    names: bytes
    check: bytes


class SealedShards(StoredShards):
    """Shards by name, as `StoredShards`, each encrypted; none stays in memory.

    An incomplete or altered file counts as absent and causes a warning; files under another key
    cause one warning together. Nothing is derived or listed before the first use. The folder is
    created if absent; the name of the benchmark is part of the salt.
    """

    def __init__(self, folder: Path, key: SealKey, name: str) -> None:
        super().__init__(folder, {})
        self._key = key
        self._name = name

    def __repr__(self) -> str:
        return "SealedShards(…)"

    def __reduce__(self) -> str:
        raise TypeError("a key cannot be pickled")

    @cached_property
    def _keys(self) -> _Keys:
        salt = hashlib.sha256(f"benchwright judge store\x1f{self._name}".encode()).digest()
        derived = self._key.derived(salt)
        keys = _Keys(*(subkey(derived, purpose) for purpose in ("shards", "names", "check")))
        keys = keys._replace(check=keys.check[:_CHECK])
        others = sum(_begins(file) not in (None, _MARK + keys.check) for file in self._all_files())
        if others:
            logger.warning(
                "%s: ignored %d files that are altered or under another key", self._folder, others
            )
        return keys

    def __getitem__(self, name: str) -> pd.DataFrame:
        file = self._file(name)
        opened = self._opened(file) if file.is_file() else None
        if opened is None:
            raise KeyError(name)
        return opened[1]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._file(name).is_file()

    def __iter__(self) -> Iterator[str]:
        opened = map(self._opened, self._all_files())
        return (shard[0] for shard in opened if shard is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def add(self, name: str, frame: pd.DataFrame) -> None:
        """Encrypt and write a shard at once, replacing one of the same name.

        Raises:
            InputError: the folder is not writable; its files stay as they were.
        """
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        buffer = io.BytesIO()
        frame.to_parquet(buffer, index=False)
        plain = name.encode() + b"\n" + buffer.getvalue()
        file = self._file(name)
        head, nonce = _MARK + self._keys.check, os.urandom(_NONCE)
        sealed = AESGCM(self._keys.cipher).encrypt(nonce, plain, head + file.stem.encode())
        with written_aside(file) as aside:
            aside.write_bytes(head + nonce + sealed)

    def _file(self, name: str) -> Path:
        digest = hmac.new(self._keys.names, name.encode(), hashlib.sha256).hexdigest()
        return self._folder / f"{digest[:32]}{SUFFIX}"

    def _all_files(self) -> list[Path]:
        return sorted(self._folder.glob(f"[!.]*{SUFFIX}"))

    def _opened(self, file: Path) -> tuple[str, pd.DataFrame] | None:
        """Return name and table of a file, None if damaged, altered or under another key."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        head = _MARK + self._keys.check
        try:
            data = file.read_bytes()
            if not data.startswith(head):
                return None  # already in the warning of `_keys`
            sealed = data[len(head) :]
            plain = AESGCM(self._keys.cipher).decrypt(
                sealed[:_NONCE], sealed[_NONCE:], head + file.stem.encode()
            )
        except (OSError, ValueError, InvalidTag) as error:
            logger.warning("%s is incomplete or altered (%s): ignored", file, type(error).__name__)
            return None
        name, _, table = plain.partition(b"\n")
        return name.decode(), pd.read_parquet(io.BytesIO(table))


def _begins(file: Path) -> bytes | None:
    """Return the mark and the check of a file's key; None if the file cannot be read."""
    try:
        with file.open("rb") as stream:
            return stream.read(len(_MARK) + _CHECK)
    except OSError:
        return None


class JudgeStore(AbstractDataset[dict[str, pd.DataFrame], StoredShards]):
    """One store for all nodes of a run in this process: encrypted on disk, or in memory.

    On disk (`sealing.judge_store: encrypted`) a killed run continues where it stopped. Without a
    key, which only pipelines that seal nothing may lack, replies are kept in memory. Several
    benchmarks may share the folder. `sealing` is the section of conf.
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
            logger.info("no key: judges' replies are kept in memory only, so other runs ask again")
            return MemoryShards()
        return SealedShards(self._folder, key, params.name)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_shards": None}  # neither a key nor replies go to other processes

    def _exists(self) -> bool:
        return False  # only a node knows whether all replies are there, so it is never skipped

    def _describe(self) -> dict[str, Any]:
        return {"folder": str(self._folder)}
