"""End a run on Ctrl-C and SIGTERM with one line and the exit code that shells expect."""

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
"""Seconds after which a run that does not end by itself is killed."""
_LOOKS = 0.5  # seconds between checks for the parent

SIGNAL_NAMES = {signal.SIGINT: "interrupted", signal.SIGTERM: "stopped by SIGTERM"}
RESUME_HINT = "saved results are complete; run the command again to resume from stored answers"


class Stopped(KeyboardInterrupt):
    """A signal that ends the run; clean-up runs as after Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.signal = signal.Signals(number)


def exit_code(number: int) -> int:
    """Return a shell's exit code after a signal: 130 for Ctrl-C, 143 for SIGTERM."""
    return 128 + int(number)


class Stops:
    """The signal that was received, 0 if none."""

    def __init__(self) -> None:
        self.received = 0
        self.watchdog: threading.Timer | None = None

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Handle the first signal; a second one would interrupt the clean-up."""
        for other in SIGNAL_NAMES:
            signal.signal(other, signal.SIG_IGN)
        self.received = number
        for worker in multiprocessing.active_children():  # of pools
            worker.terminate()
        self.watchdog = threading.Timer(GRACE, _end, [number])
        self.watchdog.daemon = True
        self.watchdog.start()
        raise Stopped(number)


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[Stops]:
    """Raise `Stopped` on SIGINT and SIGTERM within the block, and end worker processes.

    If the block takes longer than `GRACE` to end (computing threads cannot be interrupted), its
    process is killed. Outside the main thread, signals are unchanged.
    """
    stops = Stops()
    if threading.current_thread() is not threading.main_thread():
        yield stops
        return
    earlier = {number: signal.signal(number, stops.on_signal) for number in SIGNAL_NAMES}
    try:
        yield stops
    finally:
        if stops.watchdog is not None:
            stops.watchdog.cancel()
        for number, handler in earlier.items():
            signal.signal(number, handler)


def stop_message(number: int) -> str:
    """Return the line for the user."""
    return f"{SIGNAL_NAMES[signal.Signals(number)]}; {RESUME_HINT}"


def _end(number: int) -> None:
    sys.stderr.write(f"benchwright: {stop_message(number)}\n")
    sys.stderr.flush()
    os._exit(exit_code(number))


def follow_parent_in_workers() -> None:
    """Make the workers of pools end with the process that started them."""
    util.register_after_fork(Stops, lambda _: follow_parent())
    follow_parent()


def follow_parent() -> None:
    """In a worker, leave Ctrl-C to the parent, and end when the parent has ended.

    Otherwise the workers of a killed parent would wait for ever.
    """
    # A spawned process that is just importing the main module knows its parent a moment later.
    importing = getattr(multiprocessing.current_process(), "_inheriting", False)
    is_worker = importing or multiprocessing.parent_process() is not None
    if not is_worker or threading.current_thread() is not threading.main_thread():
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:  # an orphan gets another parent
            time.sleep(_LOOKS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="follow_parent").start()
