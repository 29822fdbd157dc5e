"""Tasks for lm-evaluation-harness (0.4.13): a folder of YAML, JSON lines and one small module."""

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from kedro.io import AbstractDataset

from benchwright.core.atomic_files import glob_literal, one_at_a_time, told_if_not_writable
from benchwright.core.errors import InputError

MANIFEST = "manifest.json"
README = "README.md"
STOCK_SAMPLES = "stock_samples.json"

_READER = "read_rows"  # the module in each task's folder, and its function


class HarnessTask(NamedTuple):
    """One task.

    Attributes:
        name: its name in the harness, and of its files.
        config: the keys of its YAML file, without those that say where its rows are.
        rows: the questions; each may be made when it is asked for.
        demonstrations: worked examples in the order they are shown; [] for none.
    """

    name: str
    config: Mapping[str, Any]
    rows: Sequence[dict[str, Any]]
    demonstrations: list[dict[str, Any]]


class HarnessFamily(NamedTuple):
    """Tasks that make one benchmark in one style: a folder, and a group where there are several.

    A family without tasks is a group over other families.

    Attributes:
        name: of the folder; also what to ask for: the group, or the only task.
        group: the keys of the group's YAML file; None where there is one task.
        tasks: in the order of their subjects.
        facts: what is said of it in the manifest.
    """

    name: str
    group: Mapping[str, Any] | None
    tasks: list[HarnessTask]
    facts: Mapping[str, Any]


class HarnessExport(NamedTuple):
    """All that is written into one folder.

    Attributes:
        families: names are unique, those of their tasks too.
        stock_samples: stock task → rows to ask, for `lm_eval --samples`; {} where not known.
        readme: how to run them.
        facts: what the manifest says besides its files and families.
    """

    families: list[HarnessFamily]
    stock_samples: Mapping[str, list[int]]
    readme: str
    facts: Mapping[str, Any]


class _Function(str):
    """A YAML scalar `!function module.name`."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if text.strip() != text or "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(_Function, lambda d, name: d.represent_scalar("!function", str(name)))


def _yaml(config: Mapping[str, Any]) -> bytes:
    text = yaml.dump(dict(config), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return str(text).encode()


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


Pieces = Iterable[bytes]


def _lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """JSON lines of rows, made as they are written: a million rows do not fit in memory."""
    for row in rows:
        yield (json.dumps(row, ensure_ascii=False) + "\n").encode()


def _task_files(task: HarnessTask) -> dict[str, Pieces]:
    splits: dict[str, tuple[str, Sequence[dict[str, Any]]]] = {
        "test": (f"{task.name}.jsonl", task.rows)
    }
    if task.demonstrations:
        splits["dev"] = (f"{task.name}.demonstrations.jsonl", task.demonstrations)
    config = {
        "task": task.name,
        "custom_dataset": _Function(f"{_READER}.{_READER}"),
        "dataset_kwargs": {"data_files": {split: name for split, (name, _) in splits.items()}},
        **task.config,
    }
    files = {name: _lines(rows) for name, rows in splits.values()}
    return {f"{task.name}.yaml": [_yaml(config)], **files}


def _family_files(family: HarnessFamily) -> dict[str, Pieces]:
    files: dict[str, Pieces] = {}
    if family.tasks:
        reader = resources.files("benchwright.datasets").joinpath("harness_rows.py").read_bytes()
        files[f"{_READER}.py"] = [reader]
    if family.group is not None:
        files[f"{family.name}.yaml"] = [_yaml({"group": family.name, **family.group})]
    for task in family.tasks:
        files |= _task_files(task)
    return {f"{family.name}/{name}": content for name, content in files.items()}


def _files(export: HarnessExport) -> dict[str, Pieces]:
    """Every file but the manifest, by its path in the folder."""
    files: dict[str, Pieces] = {README: [export.readme.encode()]}
    if export.stock_samples:
        files[STOCK_SAMPLES] = [(json.dumps(dict(export.stock_samples)) + "\n").encode()]
    for family in export.families:
        files |= _family_files(family)
    return files


def _manifest(export: HarnessExport, hashes: Mapping[str, str]) -> bytes:
    """The manifest, which has the SHA-256 of each of the other files."""
    return _json(
        {
            **export.facts,
            "families": {family.name: dict(family.facts) for family in export.families},
            "files": {name: hashes[name] for name in sorted(hashes)},
        }
    )


class HarnessTasks(AbstractDataset[HarnessExport, dict[str, Any]]):
    """A folder of exported tasks, replaced as a whole.

    A new folder is written aside and takes the old one's place, so that there is never half of
    one and nothing of an earlier export stays. Processes that use the folder at once take turns.
    Where one dies between the two renames, the old folder is still
    there under a hidden name, and is put back by the next use.
    """

    def __init__(self, *, path: str, metadata: dict[str, Any] | None = None) -> None:
        """Args:
        path: the folder; all of it is ours.
        metadata: for kedro-viz.
        """
        self.folder = Path(path)
        self.metadata = metadata

    def save(self, data: HarnessExport) -> None:
        """Write the export; a reader sees the old folder or the whole new one.

        Raises:
            InputError: the folder is not an export, the disk is full, or the place cannot be
                written to; the old export is as it was.
        """
        with told_if_not_writable(self.folder):
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            with one_at_a_time(self.folder.parent):
                self._restore()
                if self.folder.is_dir() and not (self.folder / MANIFEST).is_file():
                    raise InputError(
                        f"{self.folder}: has no {MANIFEST}, so it is not ours to replace; move it "
                        "away"
                    )
                self._replace_by(data)

    def load(self) -> dict[str, Any]:
        """The manifest.

        Raises:
            InputError: a file is missing or is not what was written.
        """
        with one_at_a_time(self.folder.parent):
            if os.access(self.folder.parent, os.W_OK):
                self._restore()
            return self._checked()

    def _checked(self) -> dict[str, Any]:
        manifest: dict[str, Any] = json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))
        for name, expected in manifest["files"].items():
            file = self.folder / name
            if not file.is_file():
                raise InputError(f"{file}: is missing; export again")
            with file.open("rb") as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()
            if found != expected:
                raise InputError(f"{file}: is not what was exported; export again")
        return manifest

    def _hidden(self, kind: str) -> Path:
        return self.folder.with_name(f".{self.folder.name}.{uuid.uuid4().hex}.{kind}")

    def _left(self, kind: str) -> list[Path]:
        return sorted(self.folder.parent.glob(f".{glob_literal(self.folder.name)}.*.{kind}"))

    def _replace_by(self, export: HarnessExport) -> None:
        """Write a folder aside and put it in the old one's place, in one's turn."""
        aside, old = self._hidden("new"), self._hidden("old")
        try:
            hashes = {name: _write(aside / name, pieces) for name, pieces in _files(export).items()}
            _write(aside / MANIFEST, [_manifest(export, hashes)])
            if self.folder.is_dir():  # one that is not empty cannot be renamed over
                self.folder.rename(old)
            aside.rename(self.folder)
        finally:
            if old.is_dir() and not self.folder.exists():
                old.rename(self.folder)
            for path in (aside, old):
                shutil.rmtree(path, ignore_errors=True)

    def _restore(self) -> None:
        """Put back the folder of a process that died while replacing it, and clear up after it."""
        left = self._left("old")
        if left and not self.folder.exists():
            left.pop().rename(self.folder)
        for path in (*left, *self._left("new")):
            shutil.rmtree(path, ignore_errors=True)

    def _exists(self) -> bool:
        return (self.folder / MANIFEST).is_file()

    def _describe(self) -> dict[str, Any]:
        return {"path": str(self.folder)}


def _write(file: Path, pieces: Pieces) -> str:
    """Write a file to the disk; its SHA-256."""
    found = hashlib.sha256()
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as stream:
        for piece in pieces:
            found.update(piece)
            stream.write(piece)
        stream.flush()
        os.fsync(stream.fileno())
    return found.hexdigest()
