"""Signals end a block once, handlers are restored, and workers end with their parent."""

import os
import signal
import subprocess
import sys
import time

import pytest

from benchwright.core import stopping
from benchwright.core.stopping import Stopped, stopped_by_signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_the_block_and_handlers_are_restored(number: int) -> None:
    before = [signal.getsignal(name) for name in stopping.SIGNAL_NAMES]
    tidied = False
    with pytest.raises(Stopped) as caught, stopped_by_signals() as stops:  # noqa: PT012
        try:
            os.kill(os.getpid(), number)
            time.sleep(5)
        finally:
            os.kill(os.getpid(), number)  # a second signal does not interrupt the clean-up
            tidied = True
    assert tidied
    assert caught.value.signal == stops.received == number
    assert [signal.getsignal(name) for name in stopping.SIGNAL_NAMES] == before


def test_process_of_an_unresponsive_block_is_killed() -> None:
    source = (
        "import os, signal, time\n"
        "from benchwright.core import stopping\n"
        "stopping.GRACE = 0.3\n"
        "with stopping.stopped_by_signals():\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "        time.sleep(60)\n"
        "    finally:\n"
        "        time.sleep(60)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 143
    assert done.stderr.startswith("benchwright: stopped by SIGTERM; ")
    assert len(done.stderr.splitlines()) == 1


POOL = r"""
import multiprocessing, os, signal, sys, time
import benchwright

def work(_):
    import benchwright
    os.write(1, f"{os.getpid()}\n".encode())
    time.sleep(60)

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    workers = [context.Process(target=work, args=(0,)) for _ in range(2)]
    for worker in workers:
        worker.start()
    time.sleep(60)
"""


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_workers_end_when_their_parent_is_killed(context: str, tmp_path: object) -> None:
    script = f"{tmp_path}/pool.py"
    with open(script, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(POOL)
    with subprocess.Popen(
        [sys.executable, script, context], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        workers = [int(parent.stdout.readline()) for _ in range(2)]
        for worker in workers:
            os.kill(worker, signal.SIGINT)  # the parent handles Ctrl-C
        time.sleep(0.2)
        assert all(map(living, workers))
        parent.kill()
        until = time.monotonic() + 20
        while any(map(living, workers)) and time.monotonic() < until:
            time.sleep(0.05)
        assert not any(map(living, workers))


def living(process: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:  # noqa: PTH123
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
