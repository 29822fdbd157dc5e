"""Records of runs: `<data_root>/runs/<version>.json`, written before a run's first node.

A record says from which settings each dataset of a run was made, those of earlier runs included.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.core.atomic_files import report_unwritable
from benchwright.core.errors import InputError

PARAMS = "params:"
_NEUTRAL = ("scoring.engine", "scoring.ray.", "scoring.shard_size")  # they change no result


class RunRecord(NamedTuple):
    """The settings of a run."""

    settings: Mapping[str, str]  # parameters by dotted name
    made_from: Mapping[str, Sequence[str]]  # saved dataset → the sections behind it, `params:easy`

    def behind(self, dataset: str) -> dict[str, str]:
        """Return the settings from which a dataset was made."""
        sources = self.made_from.get(dataset, ())
        sections = tuple(f"{source.removeprefix(PARAMS)}." for source in sources)
        return {
            key: value
            for key, value in self.settings.items()
            if f"{key}.".startswith(sections) and not key.startswith(_NEUTRAL)
        }


def write_record(data_root: Path, version: str, record: RunRecord) -> None:
    """Write the record of a run.

    Raises:
        InputError: another run has this version, the disk is full, or the folder cannot be written.
    """
    path = data_root / "runs" / f"{version}.json"
    with report_unwritable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with path.open("x", encoding="utf-8") as file:
                json.dump(record._asdict(), file, indent=1)
        except FileExistsError:
            message = f"{path}: another run began in the same millisecond; start this one again"
            raise InputError(message) from None
        unfinished_mark(data_root, version).touch()


def unfinished_mark(data_root: Path, version: str) -> Path:
    """Return the empty file that is beside the record of a run until it has ended well."""
    return data_root / "runs" / f"{version}.unfinished"


def read_record(data_root: Path, version: str) -> RunRecord | None:
    """Return the record of a run, None if there is none."""
    try:
        found = json.loads((data_root / "runs" / f"{version}.json").read_text("utf-8"))
        return RunRecord(found["settings"], found["made_from"])
    except (OSError, ValueError, KeyError, TypeError):  # also of a run killed while it wrote
        return None


def settings_of(saved: Path, version: str) -> Mapping[str, str] | None:
    """Return the settings of the run that saved a file, None if they are not recorded."""
    records = (read_record(folder, version) for folder in saved.parents)
    return next((record.settings for record in records if record), None)


def sections_behind(nodes: Iterable[Any], read: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """Return the sections of parameters from which nodes, in their order, make each dataset.

    `read` has those of saved datasets that the nodes read.
    """
    behind = {name: set(sections) for name, sections in read.items()}
    for node in nodes:
        found: set[str] = set()
        for name in node.inputs:
            if name.startswith(PARAMS):
                found.add(name)
            else:
                found |= behind.get(name, set())
        for name in node.outputs:
            behind[name] = found
    return behind


def joined_settings(
    records: Mapping[str, tuple[str, RunRecord]], own: Mapping[str, str]
) -> tuple[dict[str, str], str | None]:
    """Return the settings behind datasets and those of this run, and their first contradiction.

    Args:
        records: for each dataset that is read its version and the record of that.
        own: settings of this run, which win.
    """
    joined = {key: (value, "this run") for key, value in own.items()}
    problem = None
    for name, (version, record) in sorted(records.items()):
        by = f"{name} of the run {version}"
        for key, value in record.behind(name).items():
            other, user = joined.setdefault(key, (value, by))
            if value != other and problem is None:
                problem = f"{key} is {value} in {by}, but {other} in {user}"
    return {key: value for key, (value, _) in joined.items()}, problem
