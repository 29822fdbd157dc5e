"""Tasks for lm-evaluation-harness (0.4.13): a folder of YAML, JSON lines and a Python module."""

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

from benchwright.core.atomic_files import glob_literal, one_at_a_time, report_unwritable
from benchwright.core.errors import InputError

MANIFEST = "manifest.json"
README = "README.md"
STOCK_SAMPLES = "stock_samples.json"

_READER = "read_rows"  # the module in each task folder, and its function


class HarnessTask(NamedTuple):
    """One task of the harness; its files carry its name."""

    name: str
    config: Mapping[str, Any]  # content of its YAML file, except for its data files
    rows: Sequence[dict[str, Any]]  # the questions; may be created on access
    demonstrations: list[dict[str, Any]]  # in the order of the prompt


class HarnessFamily(NamedTuple):
    """Tasks of one benchmark in one style; without tasks, a group over other families."""

    name: str  # of the folder, and of the group or the only task
    group: Mapping[str, Any] | None  # keys of the group's YAML file; None for a single task
    tasks: list[HarnessTask]  # in the order of their subjects
    facts: Mapping[str, Any]  # for the manifest


class HarnessExport(NamedTuple):
    """The content of one folder; names of families and tasks are unique."""

    families: list[HarnessFamily]
    stock_samples: Mapping[str, list[int]]  # stock task → rows to ask; {} if unknown
    readme: str
    facts: Mapping[str, Any]  # for the manifest, besides files and families


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


Pieces = Iterable[bytes]


def _lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield JSON lines one by one, since a million rows may not fit in memory."""
    for row in rows:
        yield (json.dumps(row, ensure_ascii=False) + "\n").encode()


def _task_files(task: HarnessTask) -> dict[str, Pieces]:
    splits = {"test": (f"{task.name}.jsonl", task.rows)}
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
    """Return every file except the manifest by its path in the folder."""
    files: dict[str, Pieces] = {README: [export.readme.encode()]}
    if export.stock_samples:
        files[STOCK_SAMPLES] = [(json.dumps(dict(export.stock_samples)) + "\n").encode()]
    for family in export.families:
        files |= _family_files(family)
    return files


def _manifest(export: HarnessExport, hashes: Mapping[str, str]) -> bytes:
    families = {family.name: dict(family.facts) for family in export.families}
    files = {name: hashes[name] for name in sorted(hashes)}
    manifest = {**export.facts, "families": families, "files": files}
    return (json.dumps(manifest, ensure_ascii=False, indent=2) + "\n").encode()


class HarnessTasks(AbstractDataset[HarnessExport, dict[str, Any]]):
    """A folder of exported tasks that is replaced atomically.

    A new folder is written under a hidden name and then replaces the old one, so that there is
    never a partial export and no file of an earlier export remains. A lock serialises concurrent
    processes. If a process dies between the two renames, the next use restores the old folder.
    """

    def __init__(self, *, path: str, metadata: dict[str, Any] | None = None) -> None:
        self.folder = Path(path)
        self.metadata = metadata

    def save(self, data: HarnessExport) -> None:
        """Write the export; readers see either the old or the new folder.

        Raises:
            InputError: the folder is not an export, or cannot be written. The old export remains
                unchanged.
        """
        with report_unwritable(self.folder):
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            with one_at_a_time(self.folder.parent):
                self._restore()
                if self.folder.is_dir() and not (self.folder / MANIFEST).is_file():
                    raise InputError(
                        f"{self.folder}: not an export, since it has no {MANIFEST}; move the "
                        "folder elsewhere"
                    )
                self._replace_by(data)

    def load(self) -> dict[str, Any]:
        """Return the manifest; InputError if a file is missing or changed."""
        with one_at_a_time(self.folder.parent):
            if os.access(self.folder.parent, os.W_OK):
                self._restore()
            return self._checked()

    def _checked(self) -> dict[str, Any]:
        manifest: dict[str, Any] = json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))
        for name, expected in manifest["files"].items():
            file = self.folder / name
            if not file.is_file():
                raise InputError(f"{file} is missing; run the export again")
            with file.open("rb") as stream:
                actual = hashlib.file_digest(stream, "sha256").hexdigest()
            if actual != expected:
                raise InputError(f"{file} has changed since the export; run the export again")
        return manifest

    def _hidden(self, kind: str) -> Path:
        return self.folder.with_name(f".{self.folder.name}.{uuid.uuid4().hex}.{kind}")

    def _left(self, kind: str) -> list[Path]:
        return sorted(self.folder.parent.glob(f".{glob_literal(self.folder.name)}.*.{kind}"))

    def _replace_by(self, export: HarnessExport) -> None:
        """Write a new folder and replace the old one."""
        aside, old = self._hidden("new"), self._hidden("old")
        try:
            hashes = {name: _write(aside / name, pieces) for name, pieces in _files(export).items()}
            _write(aside / MANIFEST, [_manifest(export, hashes)])
            if self.folder.is_dir():  # a rename cannot replace a folder that is not empty
                self.folder.rename(old)
            aside.rename(self.folder)
        finally:
            if old.is_dir() and not self.folder.exists():
                old.rename(self.folder)
            for path in (aside, old):
                shutil.rmtree(path, ignore_errors=True)

    def _restore(self) -> None:
        """Restore the folder if a process died while replacing it, and remove temporary folders."""
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
    """Write a file to the disk; return its SHA-256."""
    digest = hashlib.sha256()
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as stream:
        for piece in pieces:
            digest.update(piece)
            stream.write(piece)
        stream.flush()
        os.fsync(stream.fileno())
    return digest.hexdigest()
