"""A folder of exported files that is replaced atomically."""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from kedro.io import AbstractDataset

from benchwright.core.atomic_files import folder_aside, report_unwritable
from benchwright.core.errors import InputError

MANIFEST = "manifest.json"
README = "README.md"

Pieces = Iterable[bytes]

json_text = json.JSONEncoder(ensure_ascii=False).encode
"""Write a value as JSON; `json.dumps` makes an encoder for each call, a million for an export."""


class FolderContent(NamedTuple):
    """The content of an exported folder, besides its manifest."""

    files: Mapping[str, Pieces]  # pieces of each file by its path in the folder
    facts: Mapping[str, Any]  # what the manifest says besides the SHA-256 of every file


class ExportFolder(AbstractDataset[FolderContent, dict[str, Any]]):
    """A folder of exported files that is replaced atomically.

    A new folder is written under a hidden name and then replaces the old one, so that there is
    never a partial export and no file of an earlier export remains. Processes wait for each other.
    """

    def __init__(self, *, path: str, metadata: dict[str, Any] | None = None) -> None:
        self.folder = Path(path)
        self.metadata = metadata
        self._old = self.folder.with_name(f".{self.folder.name}.old")

    def save(self, data: FolderContent) -> None:
        """Write the export; readers see either the old or the new folder.

        Raises:
            InputError: the folder is not an export, or cannot be written. The old export remains
                unchanged.
        """
        with report_unwritable(self.folder):
            self.folder.parent.mkdir(parents=True, exist_ok=True)
        with self._alone():
            if self.folder.is_dir() and not self._exists():
                raise InputError(
                    f"{self.folder}: not an export, since it has no {MANIFEST}; move the folder "
                    "elsewhere"
                )
            with folder_aside(self.folder) as new:
                hashes = {name: _write(new / name, file) for name, file in data.files.items()}
                manifest = {**data.facts, "files": dict(sorted(hashes.items()))}
                text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
                (new / MANIFEST).write_text(text, encoding="utf-8")
                if self.folder.is_dir():  # a rename cannot replace a folder that is not empty
                    self.folder.rename(self._old)

    def load(self) -> dict[str, Any]:
        """Return the manifest."""
        with self._alone():
            return dict(json.loads((self.folder / MANIFEST).read_text(encoding="utf-8")))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Lock the folder above without a lock file (on Windows, not at all)."""
        descriptor = None
        if sys.platform != "win32":
            import fcntl

            descriptor = os.open(self.folder.parent, os.O_RDONLY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            self._restore()
            yield
        finally:
            self._restore()
            if descriptor is not None:
                os.close(descriptor)

    def _restore(self) -> None:
        """Put the earlier export back if no new one took its place; else remove it."""
        if self._old.is_dir() and not self.folder.exists():
            self._old.rename(self.folder)
        shutil.rmtree(self._old, ignore_errors=True)

    def _exists(self) -> bool:
        return (self.folder / MANIFEST).is_file()

    def _describe(self) -> dict[str, Any]:
        return {"path": str(self.folder)}


def _write(file: Path, pieces: Pieces) -> str:
    digest = hashlib.sha256()
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as stream:
        for piece in pieces:
            digest.update(piece)
            stream.write(piece)
    return digest.hexdigest()
