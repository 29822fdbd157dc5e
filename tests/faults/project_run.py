"""Run commands of the project in processes forked after the imports, and interrupt them.

As a script it reads a command per line as JSON (see `attempt`) and writes its result. Forking
reduces the time of a run from ten seconds to one or two.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

WAIT = 0.002
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
    frozen: bool = False,
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
        frozen: continue from a process that waits at the first node of this command, which the
            first such attempt starts; the run has a new version.

    Returns:
        The exit code, or minus the signal that ended it; the seconds from the first node (or the
        start) to its end; the exit code of the second command `beside`.
    """
    if frozen:
        given = {"log": log, "moment": moment, "ended_by": int(ended_by), "pause": pause}
        return _waiting(words, log).ask(given)
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


class _Waiting:
    """A process that waits at the first node of a command and forks others that continue."""

    def __init__(self, words: list[str], log: str) -> None:
        asked, ask = os.pipe()
        answer, answered = os.pipe()
        if os.fork() == 0:
            os.close(ask)
            os.close(answer)
            self.requests, self.answers = os.fdopen(asked), os.fdopen(answered, "w")
            _run(words, log, Path(f"{log}.first"), 0.0, {}, {}, False, self)
        os.close(asked)
        os.close(answered)
        self._ask, self._answer = os.fdopen(ask, "w"), os.fdopen(answer)

    def ask(self, given: dict[str, Any]) -> dict[str, Any]:
        self._ask.write(json.dumps(given) + "\n")
        self._ask.flush()
        ended: dict[str, Any] = json.loads(self._answer.readline())
        return ended

    def at_first_node(self, catalog: Any) -> None:
        """Answer requests until the input ends; return in the forked processes, which continue."""
        for line in self.requests:
            given = json.loads(line)
            child = os.fork()
            if child == 0:
                _print_to(given["log"])
                _new_versions(catalog)
                _slow_down(given["pause"])
                return
            begun = time.monotonic()
            if given["moment"] is not None:
                _sleep_unless_ended(child, given["moment"])
                if running(child):
                    os.kill(child, given["ended_by"])
            ended = {"code": _code(child), "seconds": time.monotonic() - begun}
            self.answers.write(json.dumps(ended) + "\n")
            self.answers.flush()
        os._exit(0)


_WAITING: dict[tuple[str, ...], _Waiting] = {}


def _waiting(words: list[str], log: str) -> _Waiting:
    if tuple(words) not in _WAITING:
        _WAITING[tuple(words)] = _Waiting(words, log)
    return _WAITING[tuple(words)]


def _new_versions(catalog: Any) -> None:
    """Do what a run does at its start: set new versions and remove leftovers."""
    from kedro.io.core import Version, generate_timestamp

    from benchwright.hooks import clear_versions

    now = generate_timestamp()
    for name in list(catalog):
        dataset = catalog.get(name)
        version = getattr(dataset, "_version", None)
        if version is None:
            continue
        same_version = version.load is not None and version.load == version.save
        if same_version:
            clear_versions(dataset)
        dataset._version = Version(now if same_version else None, now)
        dataset._clear_version_cache()


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
    waiting: _Waiting | None = None,
) -> None:
    """Run the command in the child; never return."""
    code = 1
    try:
        os.setsid()  # the session identifies the processes that it starts
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _print_to(log)
        os.environ.update(environment)
        _mark_first_node(mark, waiting)
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


def _mark_first_node(mark: Path, waiting: _Waiting | None) -> None:
    from kedro.runner.task import Task

    execute = Task.execute

    def marking(self: Task) -> Any:
        mark.touch()
        Task.execute = execute
        if waiting is not None:
            waiting.at_first_node(self.catalog)
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
    import kedro.framework.session  # noqa: F401
    import kedro_datasets.pandas
    import kedro_datasets.plotly  # noqa: F401
    import kedro_viz.integrations.kedro.hooks  # noqa: F401
    import pandas  # noqa: F401
    import pandera.backends.pandas  # noqa: F401
    import plotly.graph_objects  # noqa: F401
    import pyarrow.parquet  # noqa: F401
    import scipy.stats  # noqa: F401
    import sklearn.cluster
    import sklearn.feature_extraction.text
    import sklearn.neighbors  # noqa: F401
    from kedro.framework.project import pipelines
    from kedro.framework.startup import bootstrap_project

    bootstrap_project(Path.cwd())
    list(pipelines.keys())

    sys.path.insert(0, str(Path(__file__).parents[1]))
    from benchwright.project_conf import CONFIG_LOADER_ARGS, ConfLoader
    from speed import speed_up

    speed_up()
    conf = ConfLoader(str(Path.cwd() / "conf"), **CONFIG_LOADER_ARGS)
    conf["parameters"], conf["catalog"]


if __name__ == "__main__":
    _import_everything()
    for line in sys.stdin:
        print(json.dumps(attempt(**json.loads(line))), flush=True)  # noqa: T201
