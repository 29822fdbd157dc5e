"""Ctrl-C and SIGTERM end a run with one line and the exit code that shells expect."""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing import util
from types import FrameType

GRACE = 10.0
"""Seconds that a run has to end by itself, after which its process is ended."""
_LOOKS = 0.5  # seconds between looks at whether the parent is there

TOLD = {signal.SIGINT: "interrupted", signal.SIGTERM: "told to stop (SIGTERM)"}
GO_ON = (
    "what was saved is whole and kept; the same command started again goes on from the answers "
    "that are stored"
)


class Stopped(KeyboardInterrupt):
    """A signal that ends the run; everything that tidies up after Ctrl-C does so after it.

    Attributes:
        signal: its number.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.signal = signal.Signals(number)


def exit_code(number: int) -> int:
    """What a shell reports of a process that a signal has ended: 130 after Ctrl-C, 143 SIGTERM."""
    return 128 + int(number)


class Stops:
    """What signals have asked for.

    Attributes:
        received: the signal's number; 0 as long as there was none.
    """

    def __init__(self) -> None:
        self.received = 0
        self.watchdog: threading.Timer | None = None

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """The handler: once is enough, a second signal would cut the tidying up short."""
        for other in TOLD:
            signal.signal(other, signal.SIG_IGN)
        self.received = number
        end_workers()
        self.watchdog = threading.Timer(GRACE, _end, [number])
        self.watchdog.daemon = True
        self.watchdog.start()
        raise Stopped(number)


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[Stops]:
    """Within the block SIGINT and SIGTERM raise `Stopped`, and worker processes end.

    A block that takes longer than `GRACE` to end (threads that compute cannot be interrupted) is
    ended with its process. Outside the main thread signals are left as they are.
    """
    stops = Stops()
    if threading.current_thread() is not threading.main_thread():
        yield stops
        return
    earlier = {number: signal.signal(number, stops.on_signal) for number in TOLD}
    try:
        yield stops
    finally:
        if stops.watchdog is not None:
            stops.watchdog.cancel()
        for number, handler in earlier.items():
            signal.signal(number, handler)


def said(number: int) -> str:
    """The line for the user."""
    return f"{TOLD[signal.Signals(number)]}; {GO_ON}"


def end_workers() -> None:
    """End the processes of a pool; what they were writing aside is cleared away by the next run."""
    for worker in multiprocessing.active_children():
        worker.terminate()


def _end(number: int) -> None:
    sys.stderr.write(f"benchwright: {said(number)}\n")
    sys.stderr.flush()
    os._exit(exit_code(number))


def follow_parent_in_workers() -> None:
    """Processes of pools that know this package end with the process that started them."""
    util.register_after_fork(Stops, lambda _: follow_parent())
    follow_parent()


def follow_parent() -> None:
    """In a worker process: leave Ctrl-C to the parent, and end when the parent has ended.

    A pool's workers wait for work for ever where their parent was killed.
    """
    if not _is_worker() or threading.current_thread() is not threading.main_thread():
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:  # an orphan is given another
            time.sleep(_LOOKS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="follow_parent").start()


def _is_worker() -> bool:
    # A spawned process that is just importing the main module knows its parent a moment later.
    importing = getattr(multiprocessing.current_process(), "_inheriting", False)
    return importing or multiprocessing.parent_process() is not None
