"""Item audits of saved runs."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.natural_order import natural_key
from benchwright.saved_runs import saved_versions

AUDIT = "item_audit.parquet"
COVERAGE = "rule_coverage.parquet"

_AUDIT_COLUMNS = (
    *("item_id", "subject", "decision", "removed_by", "reasons", "neighbour"),
    *("question", "choices", "answer"),
)


class SavedAudit(NamedTuple):
    """One saved item audit.

    Attributes:
        path: its item_audit.parquet.
        version: its version, "" if no run saved it.
        coverage: the rule_coverage.parquet of the same version, if it exists.
        where: benchmark and variant, from the folder names; "" without a version.
    """

    path: Path
    version: str
    coverage: Path | None
    where: str = ""

    @property
    def name(self) -> str:
        """The version, else the path."""
        return self.version or str(self.path)

    @property
    def stem(self) -> str:
        """The version, else the folder's name."""
        return self.version or self.path.parent.name


def find_audit(name: str, versions: Path, inside: Path) -> SavedAudit:
    """Find the audit that `name` refers to.

    Args:
        name: a version or its prefix, `latest`, `previous`, an audit file, the folder of a version,
            a folder of versions, a variant's folder, or a data folder.
        versions: the folder with the versions of this benchmark and variant.
        inside: the same folder, as a path in a data folder.

    Raises:
        InputError: there is no such audit; the message lists existing ones.
    """
    path = Path(name)
    if path.is_file():
        return _audit(path.resolve())
    if path.is_dir():
        for candidate in (path / AUDIT, path, path / inside):
            if candidate.is_file():
                return _audit(candidate.resolve())
            if known := saved_versions(candidate, AUDIT):
                return _audit(known[-1].resolve())
        raise InputError(f"{name}: no {AUDIT} in this folder or in {inside}")
    return _audit(_pick_version(name, versions))


def _pick_version(name: str, folder: Path) -> Path:
    known = {file.parent.name: file for file in saved_versions(folder)}
    if name in ("latest", "previous"):
        files = list(known.values())
        if not files:
            raise InputError(f"{name!r}: no run has saved {folder}; see benchwright list runs")
        if name == "previous" and len(files) < 2:
            raise InputError(f"'previous': {folder} has only one version, {files[0].parent.name}")
        return files[-1 if name == "latest" else -2]
    for file in folder.parent.glob(f"*/{AUDIT}/*/{AUDIT}"):  # of runs with a limit or seed
        known[file.parent.name] = file
    names = sorted(known, key=natural_key)
    matches = [version for version in names if version.startswith(name)]
    if len(matches) != 1:
        existing = ", ".join((matches or names)[-5:])
        problem = "matches several versions" if matches else "is neither a version nor a path"
        raise InputError(f"{name!r} {problem}; {folder} has {existing}")
    return known[matches[0]]


def _audit(path: Path) -> SavedAudit:
    """Describe an audit by its path; a run saves `…/item_audit.parquet/<version>/…`."""
    version, coverage, where = "", path.with_name(COVERAGE), ""
    if path.parent.parent.name == AUDIT:
        version = path.parent.name
        coverage = path.parents[2] / COVERAGE / version / COVERAGE
        where = " · ".join(path.as_posix().rpartition("/07_model_output/")[2].split("/")[-6:-3])
    return SavedAudit(path, version, coverage if coverage.is_file() else None, where)


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
