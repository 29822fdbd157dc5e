"""What a file of answers states of how they were asked and scored."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchwright.answers.loaded_file import LoadedFile
from benchwright.logs.sample import Log, Mark, Settings


@dataclass(frozen=True)
class Source:
    """A log or table of answers, and what it states; what it does not say is empty or None.

    Attributes:
        file: its name.
        format: the tool of a log, or `table`.
        version: of the tool or format.
        task: of a log.
        model: as told apart from others.
        metric: the score that counts.
        scorer: the filter or scorer that it comes from.
        higher_is_better: the direction of the metric.
        scale: lowest and highest score.
        style: prompt style, "" if unknown.
        shots: demonstrations, −1 if unknown.
        settings: how the questions were asked.
        files: all that were read.
        models: names in `Answers.models` whose answers it has.
        positions: (k,) items of its samples.
        numbers: (k,) the log's own names of these samples.
    """

    file: str
    format: str
    version: str = ""
    task: str = ""
    model: str = ""
    metric: str = ""
    scorer: str = ""
    higher_is_better: bool | None = None
    scale: tuple[float, float] = (0.0, 1.0)
    style: str = ""
    shots: int = -1
    settings: Settings = field(default_factory=Settings)
    files: tuple[Path, ...] = ()
    models: tuple[str, ...] = ()
    positions: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    numbers: NDArray[np.object_] = field(default_factory=lambda: np.empty(0, dtype=object))


def source_of_log(file: LoadedFile, log: Log, mark: Mark, style: str) -> Source:
    """Return what a log states under the score that counts."""
    return Source(
        file=file.name,
        format=log.format,
        version=log.version,
        task=log.task,
        model=str(file.spec.model),
        metric=mark.metric,
        scorer=mark.source,
        higher_is_better=log.directions.get(mark.metric),
        scale=file.spec.scale,
        style=style,
        shots=file.spec.shots,
        settings=log.settings,
        files=log.files,
    )


def source_of_table(file: LoadedFile, positions: NDArray[np.intp]) -> Source:
    """Return what a table states: the order of its items, and nothing of how they were asked."""
    return Source(file=file.name, format="table", scale=file.spec.scale, positions=positions)
