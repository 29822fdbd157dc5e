"""A file of answers: a table, or a log, with its settings."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pyarrow as pa

from benchwright.answers.model_names import hub_model, short_names
from benchwright.core.errors import InputError
from benchwright.logs.sample import Log, Mark
from benchwright.params.benchmark import FieldMapping
from benchwright.params.responses import TIDY_COLUMNS, ResponseFileParams

ITEM_COLUMNS = ("item_id", "content_hash", "question")
VALUE_COLUMNS = ("correct", "score", "prediction", "logprobs")


class Names(NamedTuple):
    """Names of metrics, or of filters and scorers, of which the first that a log has counts."""

    names: tuple[str, ...] = ()
    needed: bool = False  # whether a log without any of them cannot be used

    def among(self, marks: Sequence[Mark], part: int) -> list[Mark]:
        """Return the marks whose metric (part 0) or source (part 1) has the first name there is."""
        for name in self.names:
            fitting = [mark for mark in marks if mark[part] == name]
            if fitting:
                return fitting
        return [] if self.needed else list(marks)


_ANY = Names()


@dataclass(frozen=True)
class LoadedFile:
    """A file of responses with its entry in the benchmark's `responses`."""

    spec: ResponseFileParams  # with defaults if the file has no entry
    # Values are verbatim (CSV cells are strings; empty ones are missing). None for a log.
    table: pa.Table | None
    log: Log | None = None
    problem: str = ""  # why the file cannot be used; then there is neither table nor log
    lower_is_better: bool = False  # whether its scores are turned round
    metrics: Names = _ANY
    scorers: Names = _ANY
    # For a log: the field mappings of the benchmark's sources, the hub's first, as in stock tasks.
    mappings: tuple[FieldMapping, ...] = ()

    @property
    def name(self) -> str:
        """Path of the file in the folder of responses, with the model if it has several logs."""
        return self.spec.file

    @property
    def columns(self) -> dict[str, str]:
        """The standard column names of a tidy file, with their names in this one."""
        renamed: dict[str, str] = {str(ours): name for ours, name in self.spec.columns.items()}
        return {name: renamed.get(name, name) for name in TIDY_COLUMNS}

    @property
    def is_tidy(self) -> bool:
        """Whether there are columns for the model and the item, or for a value of responses."""
        names = self.columns
        present = set() if self.table is None else set(self.table.column_names)
        has_item = not present.isdisjoint(names[name] for name in ITEM_COLUMNS)
        has_value = not present.isdisjoint(names[name] for name in VALUE_COLUMNS)
        return has_value or (has_item and names["model"] in present)

    @property
    def has_answers(self) -> bool:
        """Whether a table is tidy or wide by its columns."""
        names = [] if self.table is None else self.table.column_names
        return "item_id" in names or names[:1] == ["model"] or self.is_tidy


def log_file(log: Log, spec: ResponseFileParams) -> LoadedFile:
    """Return a log with its entry, completed by what the log says.

    Raises:
        InputError: the model is unknown.
    """
    name, revision = hub_model(log.model)
    log = replace(log, model=name, revision=log.revision or revision)
    folder = str(log.files[0].parent.absolute()) if "/" in spec.file else ""
    model = spec.model or log.model or folder
    if not model:
        raise InputError(
            f"{log.files[0]}: unknown model; keep the file with the results of the run beside it, "
            f"or add {{file: {log.files[0].name}, layout: log, model: <name>}} to the benchmark's "
            "responses"
        )
    shots = spec.shots if spec.shots >= 0 else log.shots
    completed = spec.model_copy(update={"layout": "log", "model": model, "shots": shots})
    return LoadedFile(completed, None, log=log)


def told_apart(files: Sequence[LoadedFile]) -> list[LoadedFile]:
    """Give different names to logs of one file, and to models of several tools or revisions.

    Tools ask in different ways, so answers of one model in two of them are two configurations, and
    two revisions are two models. A local model is named by the end of its path.
    """
    short = short_names({str(file.spec.model) for file in files if file.log is not None})
    tools: dict[str, set[str]] = defaultdict(set)
    revisions: dict[str, set[str]] = defaultdict(set)
    for file in files:
        if file.log is not None:
            tools[short[str(file.spec.model)]].add(file.log.format)
            revisions[short[str(file.spec.model)]] |= {file.log.revision} - {""}
    names: Counter[str] = Counter()
    out = []
    for file in files:
        changes: dict[str, Any] = {}
        model, log = short.get(str(file.spec.model), ""), file.log
        if log is not None:
            changes["model"] = model
            several = len(tools[model]) > 1, len(revisions[model]) > 1
            named = (log.format * several[0], log.revision[:12] * several[1])
            if any(named):
                changes["model"] = f"{model} ({', '.join(filter(None, named))})"
        names[file.name] += 1
        if names[file.name] > 1:
            changes["file"] = f"{file.name} #{names[file.name]}"
        out.append(replace(file, spec=file.spec.model_copy(update=changes)))
    return out
