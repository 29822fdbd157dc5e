"""Private names of Kedro and fsspec that this package uses: check them before an upgrade."""

import os
from pathlib import Path, PurePosixPath
from typing import Any, Generic, TypeVar

from kedro.io import AbstractVersionedDataset, DatasetError, Version
from kedro.io.core import get_protocol_and_path

Content = TypeVar("Content")


def no_telemetry_outside_projects() -> None:
    """Switch Kedro's telemetry off where no project states a choice; `kedro` calls this first."""
    from kedro.utils import find_kedro_project

    if find_kedro_project(Path.cwd()) is None:
        os.environ.setdefault("KEDRO_DISABLE_TELEMETRY", "true")


class LocalFile(AbstractVersionedDataset[Content, Content], Generic[Content]):
    """A versioned dataset of one local file or folder; subclasses load and save it."""

    def __init__(
        self,
        *,
        filepath: str,
        version: Version | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Take a local file or folder; Kedro sets `version` if the catalog says `versioned`."""
        protocol, path = get_protocol_and_path(filepath, version)
        if protocol != "file":
            raise DatasetError(f"{filepath}: expected a local file or folder")
        self.metadata = metadata
        super().__init__(PurePosixPath(path), version)

    def load_path(self) -> Path:
        """Return the path of the loaded version."""
        return Path(self._get_load_path())

    def save_path(self) -> Path:
        """Return the path of the saved version."""
        return Path(self._get_save_path())

    def _exists(self) -> bool:
        try:
            return self.load_path().is_file()
        except DatasetError:
            return False

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._filepath), "version": self._version}


def loaded_from(dataset: Any) -> Path | None:
    """Return the local path of the loaded version, None for other datasets."""
    if not _is_local(dataset) or not hasattr(dataset, "_get_load_path"):
        return None
    return Path(str(dataset._get_load_path()))


def folder_of_versions(dataset: Any) -> Path | None:
    """Return the local folder with a folder per version, None without versions."""
    if getattr(dataset, "_version", None) is None or not _is_local(dataset):
        return None
    return Path(str(dataset._filepath))


def pinned_version(dataset: Any) -> str | None:
    """Return the version that a dataset is told to load, None where it loads the newest."""
    version = getattr(dataset, "_version", None)
    return version and version.load


def read_version(dataset: Any, version: str | None = None) -> None:
    """Load this version, by default the one that is saved, unless the loaded version is pinned.

    Kedro takes versions when it makes the catalog, before a hook knows which datasets a run makes.
    """
    known = getattr(dataset, "_version", None)
    if known is not None and known.save and not known.load:
        dataset._version = Version(version or known.save, known.save)


def _is_local(dataset: Any) -> bool:
    return bool(getattr(dataset, "_protocol", "file") == "file")
