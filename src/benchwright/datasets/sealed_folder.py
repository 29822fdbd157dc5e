"""The folder of a sealed benchmark: its files as bytes, a folder for each run."""

from collections.abc import Mapping
from typing import Any

from kedro.io import Version

from benchwright.core.atomic_files import folder_aside
from benchwright.core.kedro_internals import LocalFile


class SealedFolder(LocalFile[Mapping[str, bytes]]):
    """`<folder>/<version>/<name of the folder>/<file>`; loading gives the files by name.

    Args:
        folder: a local folder; it need not exist.
        version: of kedro.
        metadata: for plugins.
    """

    held = "sealed benchmarks"

    def __init__(
        self, *, folder: str, version: Version | None = None, metadata: dict[str, Any] | None = None
    ) -> None:
        super().__init__(filepath=folder, version=version, metadata=metadata)

    def load(self) -> dict[str, bytes]:
        """The files by name."""
        return {path.name: path.read_bytes() for path in sorted(self.load_path().iterdir())}

    def save(self, data: Mapping[str, bytes]) -> None:
        """Write all files into a folder aside and rename it: no run reads half of a benchmark.

        Raises:
            InputError: the disk is full, or the place cannot be written to.
        """
        with folder_aside(self.save_path()) as aside:
            for name, content in data.items():
                (aside / name).write_bytes(content)
