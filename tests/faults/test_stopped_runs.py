"""Ctrl-C and SIGTERM: one line, a shell's exit code, no temporary files, and a resumable run."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from faults.kill_matrix import SWEEP, command, run_of
from faults.project_runs import CHEAP, ENVIRONMENT, Server, left_in

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")

PERTURBED = run_of("export_perturbed", "limit=40")


@pytest.mark.parametrize(
    ("ended_by", "code", "runner"),
    [(signal.SIGINT, 130, "SequentialRunner"), (signal.SIGTERM, 143, "ThreadRunner")],
)
def test_interrupted_run_says_how_to_resume(
    server: Server, root: Path, ended_by: int, code: int, runner: str
) -> None:
    words = [*PERTURBED(root), "--runner", runner]
    ended = server.run(words, moment=0.3, ended_by=int(ended_by), pause=0.1)
    assert ended["code"] == code
    assert "Traceback" not in server.said
    last = server.said.strip().splitlines()[-1]
    assert last.startswith("benchwright: ")
    assert "run the command again to resume" in last
    assert left_in(root).hidden == []
    assert len(list((root / "runs").glob("*.unfinished"))) == 1


def test_interrupted_sweep_has_the_exit_code_of_the_signal(server: Server, root: Path) -> None:
    ended = server.run(
        command(SWEEP.split())(root), moment=0.3, ended_by=int(signal.SIGTERM), pause=0.05
    )
    assert ended["code"] == 143
    assert "Traceback" not in server.said
    assert "1 × smart; summary: " in server.said
    assert list(root.glob("08_reporting/sweeps/*/summary.csv"))


def processes_of(session: int) -> list[str]:
    """Living processes of a session."""
    listed = subprocess.run(
        ["ps", "-o", "stat,args", "--no-headers", "-s", str(session)],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.splitlines()
    return [line for line in listed if not line.startswith("Z")]


@pytest.mark.long
@pytest.mark.parametrize(
    ("ended_by", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_worker_processes_end_with_a_parallel_run(
    server: Server, root: Path, repository: Path, ended_by: int, code: int, tmp_path: Path
) -> None:
    """Ctrl-C goes to all processes, as in a terminal."""
    words = [*run_of("smart", CHEAP)(root), "--runner", "ParallelRunner"]
    log = tmp_path / "log"
    with log.open("w") as out:
        run = subprocess.Popen(
            [str(Path(sys.executable).with_name("kedro")), *words],
            cwd=repository,
            stdout=out,
            stderr=out,
            start_new_session=True,
            env={**os.environ, **ENVIRONMENT},
        )
    while " is done (" not in log.read_text() and run.poll() is None:
        time.sleep(0.05)
    assert len(processes_of(run.pid)) > 2
    if ended_by == signal.SIGINT:
        os.killpg(run.pid, ended_by)
    else:
        run.send_signal(ended_by)
    assert run.wait() == code
    until = time.monotonic() + 10
    while processes_of(run.pid) and time.monotonic() < until:
        time.sleep(0.1)
    assert processes_of(run.pid) == []
    assert "Traceback" not in log.read_text()
    server.must(run_of("smart", CHEAP)(root))
    assert left_in(root).hidden == []
