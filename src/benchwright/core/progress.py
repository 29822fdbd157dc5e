"""What a run shows while it works: a bar for long work, and a line for each finished stage."""

import logging
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.core.kedro_logs import NODE_DONE, RESUME_HINT, RUNNER_LOGGERS

if TYPE_CHECKING:
    from tqdm import tqdm

DELAY = 1.0
"""Seconds before a bar appears."""
_SECONDS_BETWEEN_LINES = 30.0  # where the output is not a terminal
_LINE = "{desc}: {n_fmt} of {total_fmt} {unit}s after {elapsed}, about {remaining} left"
_TOO_EARLY = re.compile(r"(: [1-4] of .*), about .* left$")  # warming up, or the shortest replies
_UNKNOWN_TOTAL = "{desc}: {n_fmt} {unit}s after {elapsed}"


class _Lines:
    """A file that makes a line of each state of a bar."""

    def write(self, text: str) -> None:
        if line := text.strip():
            sys.stderr.write(_TOO_EARLY.sub(r"\1", line) + "\n")

    def flush(self) -> None:
        sys.stderr.flush()


def progress_bar(what: str, unit: str, total: int | None = None, done: int = 0) -> "tqdm[Any]":
    """Return a progress bar with the time left, on standard error.

    Where that is not a terminal, it writes a plain line every 30 seconds.
    """
    from tqdm import tqdm

    form: dict[str, Any] = {"file": sys.stderr, "mininterval": 1, "dynamic_ncols": True}
    if not sys.stderr.isatty():
        line = _UNKNOWN_TOTAL if total is None else _LINE
        form = {"file": _Lines(), "mininterval": _SECONDS_BETWEEN_LINES, "bar_format": line}
    return tqdm(
        total=total,
        initial=done,
        desc=what,
        unit=unit,
        miniters=1,
        smoothing=0,
        delay=DELAY,
        leave=False,
        disable=False,  # whatever TQDM_DISABLE says about the bars of libraries
        **form,
    )


class StageLog:
    """Makes one line of each stage from the lines that Kedro logs for each node.

    Kedro's hint how to resume a failed run is kept in `resume_options` and shown after the error.
    """

    def __init__(self) -> None:
        self._left: Counter[str] = Counter()
        self._steps = 0
        self.resume_options: list[str] = []

    def start(self, nodes: Iterable[str]) -> None:
        """Begin a run of these nodes; the stage of `filtering.find_duplicates` is `filtering`."""
        self._left = Counter(name.partition(".")[0] for name in nodes)
        self._steps = self._left.total()
        self.resume_options.clear()
        for name in RUNNER_LOGGERS:
            logging.getLogger(name).addFilter(self._is_shown)

    def _is_shown(self, record: logging.LogRecord) -> bool:
        if record.msg == NODE_DONE and isinstance(record.args, tuple):
            stage = str(record.args[0]).partition(".")[0]
            self._left[stage] -= 1
            record.name = "benchwright"
            record.msg = "%s is done (%d of %d steps)"
            record.args = (stage, self._steps - self._left.total(), self._steps)
            return not self._left[stage]
        if hint := RESUME_HINT.search(record.getMessage()):
            self.resume_options += filter(None, hint.groups())
        return record.levelno >= logging.WARNING and not hint


stage_log = StageLog()
"""The log of the current run."""


def say(text: str) -> None:
    """Print a text; go on where the reader of standard output has gone."""
    try:
        click.echo(text)
    except BrokenPipeError:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
