"""The folder of a sealed benchmark: its files as bytes, a folder for each run."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from kedro.io import AbstractVersionedDataset
from kedro.io.core import Version

from benchwright.core.atomic_files import folder_aside


class SealedFolder(AbstractVersionedDataset[Mapping[str, bytes], dict[str, bytes]]):
    """`<folder>/<version>/<name of the folder>/<file>`; loading gives the files by name.

    Args:
        folder: a local folder; it need not exist.
        version: of kedro.
        metadata: for plugins.
    """

    def __init__(
        self, *, folder: str, version: Version | None = None, metadata: dict[str, Any] | None = None
    ) -> None:
        super().__init__(PurePosixPath(folder), version)
        self.metadata = metadata

    def load(self) -> dict[str, bytes]:
        """The files by name."""
        folder = Path(str(self._get_load_path()))
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}

    def save(self, data: Mapping[str, bytes]) -> None:
        """Write all files into a folder aside and rename it: no run reads half of a benchmark.

        Raises:
            InputError: the disk is full, or the place cannot be written to.
        """
        with folder_aside(Path(str(self._get_save_path()))) as aside:
            for name, content in data.items():
                (aside / name).write_bytes(content)

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._filepath), "version": self._version}
