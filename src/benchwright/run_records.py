"""Records of runs: `<data_root>/runs/<version>.json`, written before a run's first node.

A record reserves its version for one run, and says with which settings and from which versions of
other datasets the run makes each of its own. Datasets that are used together must agree on these.
"""

import filecmp
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.core.atomic_files import report_unwritable, written_aside

PARAMS = "params:"
_FOLDER = "runs"
_NEUTRAL = ("scoring.engine", "scoring.ray.", "scoring.shard_size")  # they change no result


class RunRecord(NamedTuple):
    """What one run has read and made.

    Attributes:
        settings: the parameters that its nodes read, by dotted name.
        read: versions of the saved datasets that it did not make, by name.
        made_from: the sources of each dataset that it saves: saved datasets, and sections of
            parameters as `params:filtering`.
    """

    settings: Mapping[str, str]
    read: Mapping[str, str]
    made_from: Mapping[str, Sequence[str]]


def claim_version(data_root: Path, version: str) -> str:
    """Reserve a version for one run, a later one if another run with this data folder has it.

    Raises:
        InputError: the disk is full, or the folder cannot be written to.
    """
    from kedro.io.core import generate_timestamp

    while True:
        path = _path(data_root, version)
        with report_unwritable(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                path.open("x").close()  # fails if the file exists, also on a shared disk
            except FileExistsError:
                time.sleep(0.001)
                version = generate_timestamp()
            else:
                return version


def write_record(data_root: Path, version: str, record: RunRecord) -> None:
    """Write the record of a claimed version.

    Raises:
        InputError: the disk is full, or the folder cannot be written to.
    """
    with written_aside(_path(data_root, version)) as aside:
        aside.write_text(json.dumps(record._asdict(), indent=1), encoding="utf-8")


def read_record(data_root: Path, version: str) -> RunRecord | None:
    """Return the record of a run, None if there is none."""
    try:
        return RunRecord(**json.loads(_path(data_root, version).read_text("utf-8")))
    except (OSError, ValueError, TypeError):  # claimed by a run that was killed before it wrote
        return None


def _path(data_root: Path, version: str) -> Path:
    return data_root / _FOLDER / f"{version}.json"


def settings_of(saved: Path, version: str) -> Mapping[str, str] | None:
    """Return the settings of the run that saved a file, None if they are not recorded."""
    records = (read_record(folder, version) for folder in saved.parents)
    return next((record.settings for record in records if record), None)


def sources(nodes: Iterable[Any], saved: Iterable[str]) -> dict[str, list[str]]:
    """Return the sources of each saved dataset that the nodes, in order, make.

    Args:
        nodes: Kedro nodes.
        saved: names of all datasets that are saved with a version; others are passed through.
    """
    saved = set(saved)
    known: dict[str, set[str]] = {}
    for node in nodes:
        found: set[str] = set()
        for name in node.inputs:
            direct = name in saved or name.startswith(PARAMS)
            found |= {name} if direct else known.get(name, set())
        known |= dict.fromkeys(node.outputs, found)
    return {name: sorted(known[name]) for name in sorted(saved & known.keys())}


def find_conflict(
    data_root: Path,
    read: Mapping[str, str],
    settings: Mapping[str, str],
    folder_of: Callable[[str], Path | None],
) -> str | None:
    """Return why datasets do not belong together or to a run's settings, None if they do.

    They belong together if each setting and each dataset from which any of them was made is the
    same for all. Two versions of a dataset with the same content are the same. What runs without a
    record have saved is not checked.

    Args:
        data_root: the data folder.
        read: versions of the datasets that the run reads, by name.
        settings: the parameters that the run reads, by dotted name.
        folder_of: returns the folder with the versions of a dataset.
    """
    records: dict[str, RunRecord | None] = {}
    values = {key: (value, "this run") for key, value in settings.items()}
    versions = {name: (version, "this run") for name, version in read.items()}
    waiting = sorted(read.items())
    problem = None
    for name, version in waiting:  # grows
        if version not in records:
            records[version] = read_record(data_root, version)
        if (record := records[version]) is None:
            continue
        by = f"{name} of the run {version}"
        for source in record.made_from.get(name, ()):
            for key, value in _section(record.settings, source):
                other, user = values.setdefault(key, (value, by))
                if value != other:
                    return f"{key} is {value} in {by}, but {other} in {user}"
            if source.startswith(PARAMS):
                continue
            used = record.read.get(source, version)
            if (source, used) not in waiting:
                waiting.append((source, used))
            other, user = versions.setdefault(source, (used, by))
            if not problem and used != other and not _same(folder_of(source), used, other):
                problem = f"{by} was made from other {source} ({used}) than {user} uses ({other})"
    return problem


def _section(settings: Mapping[str, str], source: str) -> Iterable[tuple[str, str]]:
    name = source.removeprefix(PARAMS) if source.startswith(PARAMS) else None
    for key, value in settings.items():
        if name and (key == name or key.startswith(f"{name}.")) and not key.startswith(_NEUTRAL):
            yield key, value


def _same(folder: Path | None, one: str, other: str) -> bool:
    if folder is None:
        return False
    first, second = (folder / version / folder.name for version in (one, other))
    there = first.is_file() and second.is_file()
    return there and filecmp.cmp(first, second, shallow=False)
