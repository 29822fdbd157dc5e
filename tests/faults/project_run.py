"""Run commands of the project in processes forked after the imports, and interrupt them.

As a script it reads a command per line as JSON (see `attempt`) and writes its result. Forking
reduces the time of a run from ten seconds to one or two.
"""

import gc
import importlib
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

WAIT = 0.002
IMPORTED = (
    "kedro.framework.session",
    "kedro_datasets.pandas",
    "kedro_datasets.plotly",
    "kedro_viz.integrations.kedro.hooks",
    "pandera.backends.pandas",
    "plotly.graph_objects",
    "pyarrow.parquet",
    "scipy.stats",
    "sklearn.cluster",
    "sklearn.feature_extraction.text",
)
WITH_NODES = ("run", "sweep")


def attempt(
    words: list[str],
    log: str,
    moment: float | None = None,
    ended_by: int = signal.SIGKILL,
    pause: float = 0.0,
    environment: dict[str, str] | None = None,
    limits: dict[str, int] | None = None,
    unprivileged: bool = False,
    beside: list[str] | None = None,
) -> dict[str, Any]:
    """Run a command in a separate process.

    Args:
        words: the command's arguments, without the program's name.
        log: the file for its output.
        moment: seconds after the first node has begun (a command without nodes: after it was
            started) at which it gets a signal; None sends none.
        ended_by: that signal.
        pause: delay in seconds between writing and renaming each file, so that signals arrive
            then.
        environment: variables to set.
        limits: resource limits by name, e.g. RLIMIT_FSIZE.
        unprivileged: run without root's permission to write everywhere.
        beside: the arguments of a second command that runs at the same time.

    Returns:
        The exit code, or minus the signal that ended it; the seconds from the first node (or the
        start) to its end; the exit code of the second command `beside`.
    """
    mark = Path(f"{log}.begun")
    mark.unlink(missing_ok=True)
    how = (pause, environment or {}, limits or {}, unprivileged)
    other = _forked(beside, f"{log}.beside", Path(f"{log}.other"), how) if beside else 0
    child = _forked(words, log, mark, how)
    begun = time.monotonic()
    if words[0] in WITH_NODES:
        begun = _wait_for_first_node(child, mark)
    if moment is not None:
        _sleep_unless_ended(child, moment)
        if running(child):
            os.kill(child, ended_by)
    ended = {"code": _code(child), "seconds": time.monotonic() - begun}
    return {**ended, "beside": _code(other)} if other else ended


def _print_to(log: str) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(out, stream)


def _code(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _forked(words: list[str], log: str, mark: Path, how: tuple[Any, ...]) -> int:
    child = os.fork()
    if child == 0:
        _run(words, log, mark, *how)
    return child


def _run(
    words: list[str],
    log: str,
    mark: Path,
    pause: float,
    environment: dict[str, str],
    limits: dict[str, int],
    unprivileged: bool,
) -> None:
    """Run the command in the child; never return."""
    code = 1
    try:
        os.setsid()  # the session identifies the processes that it starts
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _print_to(log)
        os.environ.update(environment)
        _mark_first_node(mark)
        _slow_down(pause)
        _limit(limits)
        if unprivileged:
            _drop_privileges()
        code = _exit_code(words)
    finally:
        if code == 1 and sys.exc_info()[0] is not None:
            sys.excepthook(*sys.exc_info())
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _exit_code(words: list[str]) -> int:
    from benchwright.cli import cli

    try:
        cli(args=words, prog_name="benchwright")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _mark_first_node(mark: Path) -> None:
    from kedro.runner.task import Task

    execute = Task.execute

    def marking(self: Task) -> Any:
        mark.touch()
        Task.execute = execute
        return execute(self)

    Task.execute = marking


def _slow_down(pause: float) -> None:
    if not pause:
        return
    fsync = os.fsync

    def slowly(descriptor: int) -> None:
        fsync(descriptor)
        time.sleep(pause)

    os.fsync = slowly


def _limit(limits: dict[str, int]) -> None:
    import resource

    for name, value in limits.items():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a failing write then raises an error
        kind = getattr(resource, name)
        resource.setrlimit(kind, (value, resource.getrlimit(kind)[1]))


def _drop_privileges() -> None:
    """Drop root's capabilities, so that file modes apply as for other users."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
    nothing = (ctypes.c_uint32 * 6)()
    if libc.capset(header, nothing):
        raise OSError(ctypes.get_errno(), "capset")


def _wait_for_first_node(child: int, mark: Path) -> float:
    started = time.monotonic()
    while running(child) and not mark.exists():
        time.sleep(WAIT)
    return time.monotonic() if mark.exists() else started


def _sleep_unless_ended(child: int, seconds: float) -> None:
    until = time.monotonic() + seconds
    while running(child) and time.monotonic() < until:
        time.sleep(WAIT)


def running(child: int) -> bool:
    """Return whether the process runs; its exit code stays available."""
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def _import_everything() -> None:
    """Import what runs need before forking; no thread is started."""
    for name in IMPORTED:
        importlib.import_module(name)
    from kedro.framework.project import pipelines
    from kedro.framework.startup import bootstrap_project

    bootstrap_project(Path.cwd())
    list(pipelines.keys())

    sys.path.insert(0, str(Path(__file__).parents[1]))
    from benchwright.runs.project_conf import CONFIG_LOADER_ARGS, ConfLoader
    from speed import speed_up

    speed_up()
    conf = ConfLoader(str(Path.cwd() / "conf"), **CONFIG_LOADER_ARGS)
    conf["parameters"], conf["catalog"]
    gc.freeze()


if __name__ == "__main__":
    _import_everything()
    for line in sys.stdin:
        print(json.dumps(attempt(**json.loads(line))), flush=True)  # noqa: T201
