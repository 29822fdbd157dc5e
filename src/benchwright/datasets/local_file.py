"""A versioned dataset kept in one local file."""

from pathlib import Path, PurePosixPath
from typing import Any, Generic, TypeVar

from kedro.io import AbstractVersionedDataset, DatasetError, Version
from kedro.io.core import get_protocol_and_path

Held = TypeVar("Held")


class LocalFile(AbstractVersionedDataset[Held, Held], Generic[Held]):
    """What datasets of one local file share; a subclass loads and saves it.

    `held` says in messages what the file holds.
    """

    held = "these"

    def __init__(
        self,
        *,
        filepath: str,
        version: Version | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Args:
        filepath: a local file.
        version: set by Kedro where the catalog says `versioned: true`.
        metadata: for kedro-viz.
        """
        protocol, path = get_protocol_and_path(filepath, version)
        if protocol != "file":
            raise DatasetError(f"{filepath}: {self.held} are kept in local files only")
        self.metadata = metadata
        super().__init__(PurePosixPath(path), version)

    def _exists(self) -> bool:
        try:
            return Path(self._get_load_path()).is_file()
        except DatasetError:
            return False

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._filepath), "version": self._version}
