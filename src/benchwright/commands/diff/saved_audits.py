"""Two saved refinements, found by version or by path, and compared."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchwright import tracking
from benchwright.commands.diff.compare import RefinementDiff, diff_audits
from benchwright.core.errors import InputError
from benchwright.project_conf import load_conf

AUDIT = "item_audit.parquet"
COVERAGE = "rule_coverage.parquet"
_NEEDED = (
    *("item_id", "subject", "decision", "removed_by", "reasons", "neighbour"),
    *("question", "choices", "answer"),
)


class SavedAudit(NamedTuple):
    """One refinement on disk.

    Attributes:
        path: its item_audit.parquet.
        version: the version it was saved under, "" where it lies outside a run's folders.
        coverage: the rule_coverage.parquet of the same version, where it is there.
        where: benchmark and variant by the folders it lies in, "" without a version.
    """

    path: Path
    version: str
    coverage: Path | None
    where: str = ""

    @property
    def name(self) -> str:
        """The version, else the path."""
        return self.version or str(self.path)


class Comparison(NamedTuple):
    """Two refinements and how they differ.

    Attributes:
        title: benchmark and variant, of both where they differ.
        before: the earlier one.
        after: the later one.
        diff: their items and rules.
        coverage: rule, status_before, status_after, reason_before, reason_after: the rules
            whose status or reason differs; empty where a run has no coverage.
        settings: parameter, before, after: what MLflow recorded differently; empty where it does
            not know both runs.
        settings_known: whether it knows both.
        default_page: where the page goes unless told otherwise.
    """

    title: str
    before: SavedAudit
    after: SavedAudit
    diff: RefinementDiff
    coverage: pd.DataFrame
    settings: pd.DataFrame
    settings_known: bool
    default_page: Path


def compare_saved(
    project: Path, env: str | None, params: Mapping[str, Any], before: str, after: str
) -> Comparison:
    """Find the two refinements and compare them.

    Args:
        project: the project's folder.
        env: as `--env`.
        params: benchmark, variant and data_root, where they are not conf's.
        before: a version or its beginning, `latest`, `previous`, or a path.
        after: likewise.

    Raises:
        InputError: no such version, path or table.
    """
    conf = load_conf(project, env, params)
    parameters = conf["parameters"]
    benchmark, variant = str(parameters["benchmark"]), str(parameters["variant"])
    versions = project / str(conf["catalog"]["item_audit"]["filepath"])
    reporting = (project / str(conf["catalog"]["metrics"]["filepath"])).parent
    old, new = (find_audit(name, versions, benchmark, variant) for name in (before, after))
    settings = _settings(dict(conf["mlflow"]), project, old, new)
    return Comparison(
        title=" → ".join(dict.fromkeys(audit.where or str(audit.path) for audit in (old, new))),
        before=old,
        after=new,
        diff=diff_audits(read_audit(old.path), read_audit(new.path)),
        coverage=compare_coverage(old, new),
        settings=_table(settings or {}),
        settings_known=settings is not None,
        default_page=reporting / "diffs" / f"{_stem(old)}_to_{_stem(new)}" / "diff.html",
    )


def find_audit(name: str, versions: Path, benchmark: str, variant: str) -> SavedAudit:
    """The audit that `name` means.

    Args:
        name: a version or its beginning, `latest`, `previous`, an audit file, the folder of a
            version, a folder of versions, a variant's folder, or a data folder.
        versions: the folder that holds this benchmark and variant's versions.
        benchmark: whose audit to take from a data folder.
        variant: likewise.

    Raises:
        InputError: nothing is found; the message lists what is there.
    """
    path = Path(name)
    if path.is_file():
        return _audit(path.resolve())
    if path.is_dir():
        inside = f"07_model_output/{benchmark}/{variant}/{AUDIT}"
        for candidate in (path / AUDIT, path, path / inside):
            if candidate.is_file():
                return _audit(candidate.resolve())
            if known := _versions(candidate):
                return _audit((candidate / known[-1] / AUDIT).resolve())
        raise InputError(f"{name}: no {AUDIT} in this folder, nor in {inside}")
    return _audit(versions / _pick_version(name, versions) / AUDIT)


def _pick_version(name: str, versions: Path) -> str:
    known = _versions(versions)
    if not known:
        raise InputError(f"{name!r}: no run has saved {versions}; run the pipeline first")
    if name in ("latest", "previous"):
        if name == "previous" and len(known) < 2:
            raise InputError(f"'previous': {versions} has one version only, {known[0]}")
        return known[-1] if name == "latest" else known[-2]
    found = [version for version in known if version.startswith(name)]
    if len(found) != 1:
        shown = ", ".join((found or known)[-5:])
        problem = "begins several versions" if found else "is no version and no path"
        raise InputError(f"{name!r} {problem}; {versions} has {shown}")
    return found[0]


def _versions(folder: Path) -> list[str]:
    return sorted(path.parent.name for path in folder.glob(f"*/{AUDIT}") if path.is_file())


def _audit(path: Path) -> SavedAudit:
    """What lies beside an audit saved by a run: `…/item_audit.parquet/<version>/…`."""
    if path.parent.parent.name != AUDIT:
        beside = path.with_name(COVERAGE)
        return SavedAudit(path, "", beside if beside.is_file() else None)
    version = path.parent.name
    beside = path.parents[2] / COVERAGE / version / COVERAGE
    where = f"{path.parents[3].name} · {path.parents[2].name}"
    return SavedAudit(path, version, beside if beside.is_file() else None, where)


def _stem(audit: SavedAudit) -> str:
    return audit.version or audit.path.parent.name


def read_audit(path: Path) -> pd.DataFrame:
    """An item_audit.parquet with all columns that a comparison needs.

    Raises:
        InputError: it is no Parquet file, or lacks a column.
    """
    try:
        audit = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as a Parquet table: {error}") from error
    lacking = [column for column in _NEEDED if column not in audit.columns]
    if lacking:
        raise InputError(f"{path} is no item_audit: it has no column {', '.join(lacking)}")
    return audit


def compare_coverage(before: SavedAudit, after: SavedAudit) -> pd.DataFrame:
    """The rules that ran in one refinement and not, or only in part, in the other."""
    columns = ["rule", "status_before", "status_after", "reason_before", "reason_after"]
    if before.coverage is None or after.coverage is None:
        return pd.DataFrame(columns=columns)
    tables = [
        pd.read_parquet(path)[["rule", "status", "reason"]]
        for path in (before.coverage, after.coverage)
    ]
    both = tables[0].merge(tables[1], on="rule", how="outer", suffixes=("_before", "_after"))
    both = both.fillna("")[columns]
    differs = (both["status_before"] != both["status_after"]) | (
        both["reason_before"] != both["reason_after"]
    )
    return both[differs].reset_index(drop=True)


def _settings(
    conf: Mapping[str, Any], project: Path, before: SavedAudit, after: SavedAudit
) -> dict[str, tuple[str, str]] | None:
    """Parameters that MLflow recorded differently; None where it does not know both runs."""
    if not (before.version and after.version and tracking.tracking_is_on(conf)):
        return None
    try:
        old, new = (
            tracking.recorded_parameters(conf, project, audit.version) for audit in (before, after)
        )
    except Exception:
        return None  # a store that is away must not stop the comparison
    if old is None or new is None:
        return None
    return differing_settings(old, new)


def differing_settings(
    before: Mapping[str, str], after: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """Parameters whose values differ; "" where one side has none. Places are left out."""
    names = sorted({*before, *after} - {"data_root", "mirror_root"})
    sides = {name: (before.get(name, ""), after.get(name, "")) for name in names}
    return {name: (old, new) for name, (old, new) in sides.items() if old != new}


def _table(settings: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    rows = [(name, *values) for name, values in settings.items()]
    return pd.DataFrame(rows, columns=["parameter", "before", "after"])
