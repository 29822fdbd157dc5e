"""The files of an exported folder, for tests."""

from pathlib import Path
from tempfile import TemporaryDirectory

from benchwright.datasets.harness_tasks import HarnessExport, HarnessTasks


def folder_contents(export: HarnessExport) -> dict[str, bytes]:
    """Every file of the folder by its path in it."""
    with TemporaryDirectory() as place:
        folder = Path(place, "tasks")
        HarnessTasks(path=str(folder)).save(export)
        files = (path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
