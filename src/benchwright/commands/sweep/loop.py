"""Going through the combinations: one that fails, or a stop, leaves the others as they are."""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from benchwright.commands.sweep.summary import Combination, SweepRun, duration
from benchwright.core.errors import one_line
from benchwright.core.stopping import end_workers

logger = logging.getLogger(__name__)

Execute = Callable[[Combination], SweepRun]
Keep = Callable[[list[SweepRun]], None]


class Interruption:
    """Ctrl-C as a request: it ends the run under way, but not the writing of what is done."""

    def __init__(self) -> None:
        self.asked = False
        self._raises = False

    @contextmanager
    def received(self) -> Iterator[None]:
        """Within the block, Ctrl-C is noted; outside the main thread it is left as it is."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        earlier = signal.signal(signal.SIGINT, self._on_signal)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, earlier)

    @contextmanager
    def ends_this(self) -> Iterator[None]:
        """Within the block, Ctrl-C raises KeyboardInterrupt at once."""
        self._raises = True
        try:
            yield
        finally:
            self._raises = False

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if self._raises:
            end_workers()
            raise KeyboardInterrupt


def remaining_seconds(runs: Sequence[SweepRun], todo: Sequence[Combination]) -> float:
    """How long `todo` will take after these runs; 0 while nothing is known.

    A combination is taken to last as long as the latest one of its benchmark and variant (whose
    scores and embeddings are stored by then), else of its benchmark, else as the mean.
    """
    mean = sum(run.seconds for run in runs) / len(runs) if runs else 0.0
    latest = {run.combination[:same]: run.seconds for run in runs for same in (1, 2)}
    return sum(latest.get(one[:2], latest.get(one[:1], mean)) for one in todo)


def run_combinations(
    todo: Sequence[Combination],
    execute: Execute,
    say: Callable[[str], None],
    keep: Keep,
    clock: Callable[[], float] = time.monotonic,
) -> list[SweepRun]:
    """Run each combination and say how far it is.

    An error makes the combination `failed` and goes on with the next. After Ctrl-C the one under
    way is `interrupted` and those after it are `not_run`.

    Args:
        todo: the combinations, in the order in which they run.
        execute: runs one; its `seconds` is filled in here.
        say: prints a line.
        keep: writes the runs so far; called after each one.
        clock: seconds from any start.

    Returns:
        One entry per combination of `todo`.
    """
    runs: list[SweepRun] = []
    interruption = Interruption()
    with interruption.received():
        for number, combination in enumerate(todo, start=1):
            say(f"[{number}/{len(todo)}] {combination}")
            started = clock()
            try:
                with interruption.ends_this():
                    run = execute(combination)
            except KeyboardInterrupt:
                interruption.asked = True
                run = SweepRun(combination, "interrupted")
            except Exception as error:
                run = SweepRun(combination, "failed", error=_told(error))
                if interruption.asked:  # workers that were stopped too may say so in their own way
                    run = SweepRun(combination, "interrupted")
            run = run._replace(seconds=clock() - started)
            runs.append(run)
            keep(runs)
            say(_progress(number, len(todo), run, remaining_seconds(runs, todo[number:])))
            if interruption.asked:
                break
    return runs + [SweepRun(combination, "not_run") for combination in todo[len(runs) :]]


def _told(error: Exception) -> str:
    message = one_line(error)
    if message is None or os.environ.get("BENCHWRIGHT_TRACEBACK"):
        logger.error("this combination failed", exc_info=error)
    if message is None:
        message = " ".join(f"{type(error).__name__}: {error}".split())
    return message


def _progress(number: int, total: int, run: SweepRun, remaining: float) -> str:
    line = f"[{number}/{total}] {run.combination}: {run.status} in {duration(run.seconds)}"
    if run.error:
        line += f": {run.error}"
    elif "n_kept" in run.metrics and "n_items" in run.metrics:
        line += f", kept {run.metrics['n_kept']:,.0f} of {run.metrics['n_items']:,.0f}"
    left = total - number
    if left and run.status != "interrupted":
        line += f"; {left} left, about {duration(remaining)}"
    return line
