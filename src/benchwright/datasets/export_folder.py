"""A folder of exported files that is replaced atomically."""

import glob
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

from benchwright.core.atomic_files import aside_of, clear_abandoned, report_unwritable
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
        parent = self.folder.parent
        with report_unwritable(self.folder):
            parent.mkdir(parents=True, exist_ok=True)
            with self._alone():
                clear_abandoned(parent.glob(f".{glob.escape(self.folder.name)}.*.tmp"))
                if self.folder.is_dir() and not self._exists():
                    raise InputError(
                        f"{self.folder}: not an export, since it has no {MANIFEST}; move the "
                        "folder elsewhere"
                    )
                self._replace_by(data)

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
            if descriptor is not None:
                os.close(descriptor)

    def _replace_by(self, content: FolderContent) -> None:
        """Write a new folder and replace the old one."""
        new = aside_of(self.folder)
        try:
            hashes = {name: _write(new / name, file) for name, file in content.files.items()}
            manifest = {**content.facts, "files": dict(sorted(hashes.items()))}
            text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
            _write(new / MANIFEST, [text.encode()])
            if self.folder.is_dir():  # a rename cannot replace a folder that is not empty
                self.folder.rename(self._old)
            new.rename(self.folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)
            self._restore()

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
    """Write a file to the disk; return its SHA-256."""
    digest = hashlib.sha256()
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as stream:
        for piece in pieces:
            digest.update(piece)
            stream.write(piece)
        stream.flush()
        os.fsync(stream.fileno())
    return digest.hexdigest()
