"""Tasks for lm-evaluation-harness (0.4.13): a folder of YAML, JSON lines and a Python module."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import yaml

from benchwright.datasets.export_folder import (
    README,
    ExportFolder,
    FolderContent,
    Pieces,
    json_text,
)

_READER = "read_rows"  # the module in each task folder, and its function


class Rows(Protocol):
    """Rows that may be made on each iteration."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...


class HarnessTask(NamedTuple):
    """One task of the harness; its files carry its name."""

    name: str
    config: Mapping[str, Any]  # content of its YAML file, except for its data files
    rows: Rows  # the questions
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
    readme: str
    facts: Mapping[str, Any]  # for the manifest, besides files and families
    reader: bytes  # the module with which the harness reads the rows of a family


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


def _lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield JSON lines one by one, since a million rows may not fit in memory."""
    for row in rows:
        yield (json_text(row) + "\n").encode()


def _family_files(family: HarnessFamily, reader: bytes) -> dict[str, Pieces]:
    files: dict[str, Pieces] = {}
    if family.tasks:
        files[f"{_READER}.py"] = [reader]
    if family.group is not None:
        files[f"{family.name}.yaml"] = [_yaml({"group": family.name, **family.group})]
    for task in family.tasks:
        splits = {"test": f"{task.name}.jsonl"}
        files[splits["test"]] = _lines(task.rows)
        if task.demonstrations:
            splits["dev"] = f"{task.name}.demonstrations.jsonl"
            files[splits["dev"]] = _lines(task.demonstrations)
        config = {
            "task": task.name,
            "custom_dataset": _Function(f"{_READER}.{_READER}"),
            "dataset_kwargs": {"data_files": splits},
            **task.config,
        }
        files[f"{task.name}.yaml"] = [_yaml(config)]
    return {f"{family.name}/{name}": content for name, content in files.items()}


class HarnessTasks(ExportFolder):
    """A folder of exported tasks."""

    def save(self, data: HarnessExport) -> None:  # type: ignore[override]
        """Write the tasks; see `ExportFolder`."""
        files: dict[str, Pieces] = {README: [data.readme.encode()]}
        for family in data.families:
            files |= _family_files(family, data.reader)
        families = {family.name: dict(family.facts) for family in data.families}
        super().save(FolderContent(files, {**data.facts, "families": families}))
