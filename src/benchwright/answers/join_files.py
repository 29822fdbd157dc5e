"""Join all files of answers to items: those of a benchmark, or those that logs ask themselves."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.answers.answer_rows import merge_files
from benchwright.answers.answer_tables import read_answer_table
from benchwright.answers.find_items import UNCLEAR
from benchwright.answers.item_index import ResponseIndex
from benchwright.answers.items_of_logs import ItemsOfLogs, KnownPrompts, LogItems, LogPlaces
from benchwright.answers.join_logs import (
    JoinedLog,
    KnownPlaces,
    Places,
    foreign_runs,
    join_log,
    place_sample,
    rows_of_log,
    without_texts,
)
from benchwright.answers.loaded_file import LoadedFile
from benchwright.answers.prompt_matching import Frame
from benchwright.answers.source import Source, source_of_table
from benchwright.answers.tally import Tally
from benchwright.core.errors import InputError
from benchwright.tables.responses import ImportReport


@dataclass
class JoinedFiles:
    """The rows of files by their names, and what became of every row."""

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    tallies: dict[str, Tally] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    errors: dict[str, InputError] = field(default_factory=dict)

    def add_log(self, joined: JoinedLog, places: Places) -> None:
        """Add the rows of a log whose samples are placed."""
        name = joined.file.name
        try:
            self.rows[name], self.sources[name] = rows_of_log(joined, places)
            self.tallies[name] = joined.tally
        except InputError as error:
            self.add_error(name, error)

    def add_error(self, name: str, error: InputError) -> None:
        """Add a file that cannot be used."""
        self.tallies[name] = Tally(name, "unusable", notes=[str(error)])
        self.errors[name] = error

    def add_tables(self, files: Mapping[str, LoadedFile], index: ResponseIndex) -> None:
        """Add the rows of the tables among files, and those that have a problem."""
        for name, file in files.items():
            try:
                if file.problem:
                    raise InputError(file.problem)
                if file.table is not None:
                    rows, self.tallies[name] = read_answer_table(file, file.table, index)
                    self.rows[name] = rows
                    positions = np.unique(np.asarray(rows["position"]), return_index=True)[1]
                    in_order = np.asarray(rows["position"])[np.sort(positions)]
                    self.sources[name] = source_of_table(file, in_order)
            except InputError as error:
                self.add_error(name, error)

    def move(self, places: NDArray[np.intp]) -> None:
        """Replace the positions of items by those in another index."""
        for name, rows in self.rows.items():
            self.rows[name] = {**rows, "position": places[rows["position"]]}
        for name, source in self.sources.items():
            self.sources[name] = replace(source, positions=places[source.positions])

    def merged(self, files: Iterable[str], index: ResponseIndex) -> pd.DataFrame:
        """Return the rows that count, in the order of the files (`answer_rows.merge_files`)."""
        in_order = [self.rows[name] for name in files if name in self.rows]
        return merge_files(in_order, index, self.tallies)

    def report(self, files: Iterable[str]) -> pd.DataFrame:
        """Return an `ImportReport` table."""
        tallies = [self.tallies[name] for name in files]
        return ImportReport.from_rows([{**vars(each), "detail": each.detail()} for each in tallies])


def join_files(files: Mapping[str, LoadedFile], index: ResponseIndex) -> JoinedFiles:
    """Find the items of all recorded answers among those of an index.

    Raises:
        InputError: there are files, not of the hub, and none can be used; the message is that of
            the first.
    """
    joined = JoinedFiles()
    places = KnownPlaces(index, foreign_runs(files.values(), index))
    for name, file in files.items():
        if file.log is not None:
            try:
                joined.add_log(join_log(file, file.log, places), places)
            except InputError as error:
                joined.add_error(name, error)
    joined.add_tables(files, index)
    if not joined.rows:
        for name, file in files.items():
            if name in joined.errors and not file.spec.hub:
                raise joined.errors[name]
    return joined


@dataclass
class _Waiting:
    """A log with prompts, whose questions are only known once all questions are."""

    side: JoinedFiles
    file: LoadedFile
    frame: Frame


def join_logs(
    sides: Sequence[Mapping[str, LoadedFile]],
) -> tuple[list[JoinedFiles], LogItems | None]:
    """Join the logs of several sides to the items that they ask, and return these.

    Each log is read once; one whose samples have only prompts once more, since what its prompts
    share, and the questions that others ask, tell the question from the rest. Positions are those
    in the returned table; it is None without a question. A broken log makes no items.
    """
    items = ItemsOfLogs()
    joined = [JoinedFiles() for _ in sides]
    waiting: list[_Waiting] = []
    for side, files in zip(joined, sides, strict=True):
        for name, file in files.items():
            if file.log is None:
                continue
            places = LogPlaces(items, file.log)
            try:
                samples = join_log(file, file.log, places)
            except InputError as error:
                side.add_error(name, error)
                continue
            if places.frame.count:
                waiting.append(_Waiting(side, file, places.frame))
            else:
                side.add_log(samples, places)
    if waiting:
        _join_prompts(waiting, items)
    return joined, items.table() if items.rows else None


def _join_prompts(waiting: Sequence[_Waiting], items: ItemsOfLogs) -> None:
    """Join logs with prompts; those that may have more than a question come last."""
    prompts = KnownPrompts(items)
    unclear: list[tuple[_Waiting, JoinedLog, LogPlaces]] = []
    for log in waiting:
        if log.file.log is None:
            continue
        places = LogPlaces(items, log.file.log, prompts, log.frame)
        try:
            joined = join_log(log.file, log.file.log, places)
        except InputError as error:
            log.side.add_error(log.file.name, error)
            continue
        if any(row.place is UNCLEAR for row in joined.samples):
            unclear.append((log, joined, places))
        else:
            log.side.add_log(joined, places)
    for log, joined, places in unclear:
        for at, row in enumerate(joined.samples):
            if row.place is UNCLEAR:
                place = places.place_of_prompt(row.sample, last=True)
                bare = without_texts(row.sample)
                if place is not None:
                    joined.samples[at] = place_sample(row.sample, bare, row.condition, place)
        log.side.add_log(joined, places)
