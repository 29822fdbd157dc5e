"""Files of recorded responses to one benchmark, read verbatim."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from benchwright.answers.answer_files import load_found
from benchwright.answers.loaded_file import LoadedFile, log_file, told_apart
from benchwright.answers.table_files import read_table
from benchwright.core.errors import InputError, first_problem
from benchwright.core.file_kinds import kind_of
from benchwright.core.printable import format_value
from benchwright.core.progress import progress_bar
from benchwright.core.verbatim import listed
from benchwright.datasets.read_only import ReadOnly
from benchwright.ingestion.hub_files import HubFiles
from benchwright.logs.find import find_logs, logs_in
from benchwright.params.benchmark import FieldMapping, SourcesParams
from benchwright.params.responses import ResponseFileParams

logger = logging.getLogger(__name__)

Params = TypeVar("Params", bound=BaseModel)


class ResponseFiles(ReadOnly[dict[str, LoadedFile]]):
    """The recorded responses to one benchmark: configured files first, then others in the folder.

    Files are tables (Parquet, CSV, also gzipped, or JSON lines), or logs of evaluation tools, also
    in subfolders. The benchmark's `responses` lists files, and its `sources` define how the source
    rows in logs are read. `folder` is searched first, then `<mirror_root>/responses/`. Datasets of
    the hub are read from `mirror_root`, the hub or its cache.
    """

    def __init__(
        self,
        *,
        benchmark: dict[str, Any],
        folder: str,
        mirror_root: str | None = "",
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self._named = benchmark.get("responses") or []
        self._sources = benchmark.get("sources")
        super().__init__(folder, metadata=metadata)
        self._mirror_root = mirror_root or ""
        self._mirror = Path(mirror_root) / "responses" if mirror_root else None

    def load(self) -> dict[str, LoadedFile]:
        """Return every file by name: configured files in their order, then the others by name.

        Raises:
            InputError: an entry of `responses` is invalid, a configured file is neither in the
                folder nor in the mirror, or one of them cannot be read. Other files that cannot be
                read have a `problem`.
        """
        if not isinstance(self._named, list | tuple):
            got = format_value(self._named)
            raise InputError(f"responses: expected a list of files, got {got}")
        configured = [
            _validated(ResponseFileParams, entry, f"responses[{position}]")
            for position, entry in enumerate(self._named)
        ]
        names = [spec.file for spec in configured]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"responses: {name!r} is listed more than once")
        loaded = [file for spec in configured for file in self._load_file(spec)]
        loaded += self._unnamed({(self.place / name).resolve() for name in names})
        return {file.name: file for file in told_apart(loaded)}

    def _unnamed(self, named: set[Path]) -> list[LoadedFile]:
        """Return the logs in the folder and below, and the tables in it, by name."""
        if not self.place.is_dir():
            return []
        mappings = self._mappings()  # a mistake in conf is none of a file
        found = find_logs([self.place])
        tables = [path for path in found.others if path.parent == self.place]
        if below := [path.relative_to(self.place) for path in found.others if path not in tables]:
            logger.warning("%s: not recognised as logs: %s", self.place, listed(below))

        def entry(path: Path) -> ResponseFileParams:
            # Not validated: entries may not have folders in their names.
            name = path.relative_to(self.place).as_posix()
            return ResponseFileParams.model_construct(file=name)

        stated = [path for path in tables if kind_of(path.name).kind != ".json"]
        files, _ = load_found(found._replace(others=tables), entry, stated)
        files = [file for file in files if (self.place / file.name).resolve() not in named]
        for file in files:
            if file.problem:
                logger.warning("%s", file.problem)
        known = (replace(file, mappings=mappings) for file in files)
        return sorted(known, key=lambda file: self.place / file.name)

    def _from_hub(self, spec: ResponseFileParams) -> Iterator[LoadedFile]:
        """Yield the logs of each model in `spec`; a model without any has a `problem`."""
        hub = HubFiles(self._mirror_root)
        with progress_bar("answers from the hub", "model", len(spec.models)) as bar:
            for entry in spec.models:
                model, _, revision = entry.partition("@")
                dataset = str(spec.hub).format(model=model.replace("/", "__"))
                of_model = spec.model_copy(update={"model": model, "file": f"{model}/{spec.file}"})
                try:
                    for path in hub.find(dataset, revision or "main", spec.file):
                        of_file = of_model.model_copy(update={"file": f"{model}/{path.name}"})
                        yield from self._log_at(path, of_file)
                except InputError as error:
                    logger.warning("%s is left out: %s", model, error)
                    yield LoadedFile(of_model, None, problem=str(error))
                bar.update()

    def _load_file(self, spec: ResponseFileParams) -> list[LoadedFile]:
        if spec.hub is not None:
            return list(self._from_hub(spec))
        folders = [self.place] + ([self._mirror] if self._mirror else [])
        path = next((f / spec.file for f in folders if (f / spec.file).is_file()), None)
        where = f"responses: {spec.file}"
        if path is None:
            raise InputError(f"{where} is not in {' and not in '.join(map(str, folders))}")
        if spec.layout in ("auto", "log") and (logs := self._log_at(path, spec)):
            return logs
        if spec.layout == "log":
            raise InputError(f"{where} is not a log that benchwright reads")
        if spec.model is not None:
            raise InputError(f"{where} is not a log; remove model: {spec.model}")
        return [LoadedFile(spec, read_table(path))]

    def _log_at(self, path: Path, spec: ResponseFileParams) -> list[LoadedFile]:
        logs = logs_in(path) or []
        return [replace(log_file(log, spec), mappings=self._mappings()) for log in logs]

    def _mappings(self) -> tuple[FieldMapping, ...]:
        if not self._sources:
            return ()
        sources = _validated(SourcesParams, self._sources, "sources").by_kind()
        return tuple(source.fields for source in sources.values())


def _validated(kind: type[Params], value: Any, where: str) -> Params:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        got = format_value(error.errors()[0]["input"])
        raise InputError(f"{first_problem(error, where)}; got {got}") from error
