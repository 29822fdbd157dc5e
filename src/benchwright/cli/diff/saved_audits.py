"""Item audits of saved runs."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.natural_order import natural_key
from benchwright.runs.saved_runs import saved_versions

AUDIT = "item_audit.parquet"
_AUDIT_COLUMNS = (
    *("item_id", "subject", "decision", "removed_by", "reasons", "neighbour"),
    *("question", "choices", "answer"),
)


class SavedAudit(NamedTuple):
    """One saved item audit.

    Attributes:
        path: its item_audit.parquet.
        version: its version, "" if no run saved it.
        where: benchmark and variant, from the folder names; "" without a version.
    """

    path: Path
    version: str
    where: str = ""

    @property
    def name(self) -> str:
        """The version, else the path."""
        return self.version or str(self.path)

    @property
    def stem(self) -> str:
        """The version, else the folder's name."""
        return self.version or self.path.parent.name


def find_audit(name: str, versions: Path) -> SavedAudit:
    """Find the audit that `name` refers to.

    Args:
        name: a version or its prefix, `latest`, `previous`, an audit file, or the folder of a
            version or of a variant.
        versions: the folder with the versions of this benchmark and variant.

    Raises:
        InputError: there is no such audit; the message lists existing ones.
    """
    path = Path(name)
    if not path.exists():
        return _audit(_pick_version(name, versions))
    known = [path] if path.is_file() else [*path.glob(AUDIT), *saved_versions(path / AUDIT)]
    files = [file for file in known if file.is_file()]
    if not files:
        raise InputError(f"{name}: no {AUDIT} in this folder")
    return _audit(files[-1].resolve())


def _pick_version(name: str, folder: Path) -> Path:
    files = saved_versions(folder)
    if name in ("latest", "previous"):
        place = -1 if name == "latest" else -2
        if len(files) < -place:
            has = f"has {len(files)} versions" if files else "does not exist"
            raise InputError(f"{name!r}: {folder} {has}; see benchwright list runs")
        return files[place]
    # Also of runs with a limit or seed.
    files = [*files, *folder.parent.glob(f"*/{AUDIT}/*/{AUDIT}")]
    known = {file.parent.name: file for file in files}
    names = sorted(known, key=natural_key)
    matches = [version for version in names if version.startswith(name)]
    if len(matches) != 1:
        existing = ", ".join((matches or names)[-5:])
        problem = "matches several versions" if matches else "is neither a version nor a path"
        raise InputError(f"{name!r} {problem}; {folder} has {existing}")
    return known[matches[0]]


def _audit(path: Path) -> SavedAudit:
    """Describe an audit by its path; a run saves `…/item_audit.parquet/<version>/…`."""
    if path.parent.parent.name != AUDIT:
        return SavedAudit(path, "")
    where = path.as_posix().rpartition("/07_model_output/")[2].split("/")[-6:-3]
    return SavedAudit(path, path.parent.name, " · ".join(where))


def read_audit(path: Path) -> pd.DataFrame:
    """Read an item_audit.parquet with the columns that a comparison needs.

    Raises:
        InputError: it is not a Parquet file, or lacks a column.
    """
    try:
        audit = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not a valid Parquet file: {error}") from error
    lacking = [column for column in _AUDIT_COLUMNS if column not in audit.columns]
    if lacking:
        raise InputError(f"{path}: not an item audit; missing columns: {', '.join(lacking)}")
    return audit
