"""One function over many tasks, in order: in this process, in several, or on a Ray cluster."""

import contextlib
import copyreg
import logging
import os
import secrets
import signal
import socket
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cached_property, partial
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

from benchwright.core.errors import InputError, causes
from benchwright.params.mmlu_cf import BatchClusterParams, BatchEngineParams

_KNOCK_SECONDS = 10.0
Task = TypeVar("Task")
Part = TypeVar("Part")
_AHEAD = 2  # tasks per worker that run or wait
_MEMORY = Path("/dev/shm")  # noqa: S108 - kept in memory


def _as_stream(table: pa.Table) -> tuple[Callable[[bytes], pa.Table], tuple[bytes]]:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return _from_stream, (sink.getvalue().to_pybytes(),)


def _from_stream(stream: bytes) -> pa.Table:
    return pa.ipc.open_stream(stream).read_all()


copyreg.pickle(pa.Table, _as_stream)  # of a slice, pickle alone would write the whole table


def loaded_ray(section: str) -> Any:
    """Import Ray; InputError if it is not installed."""
    try:
        import ray
    except ImportError:
        raise InputError(
            f"{section}.engine is ray, but Ray is not installed: pip install 'benchwright[ray]'"
        ) from None
    return ray


@contextlib.contextmanager
def cluster(
    ray: Any, address: str | None, cores: int, section: str, spill_to: Path | None = None
) -> Iterator[None]:
    """Connect to the cluster at `address`, or run one on this machine, while the block runs.

    A cluster that is started has so many cores, and writes objects that its store has no room for
    to `spill_to`. Messages name the section of conf.

    Raises:
        InputError: no cluster can be reached at the address.
    """
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    handler = signal.getsignal(signal.SIGTERM)
    if address is None:
        # Otherwise Ray writes one into the home folder, which may not exist.
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        spilling = {} if spill_to is None else {"object_spilling_directory": str(spill_to)}
        ray.init(address="local", num_cpus=cores, include_dashboard=False, **spilling, **quiet)
    else:
        try:
            _knock(address)
            ray.init(address=address, **quiet)
        except (OSError, ValueError, ImportError, ray.exceptions.RayError) as error:
            raise InputError(
                f"{section}.ray.address {address!r}: no Ray cluster can be reached there "
                f"({root_line(error, -1)}); start one with `ray start --head`, or leave the "
                "address out to use this machine alone"
            ) from error
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)  # Ray's has an unusual exit status
    try:
        yield
    finally:
        ray.shutdown()


def root_line(error: BaseException, line: int = 0) -> str:
    """Return the first or the last (−1) line of an error's root cause."""
    *_, root = causes(error)
    return (str(root).strip().splitlines() or [type(root).__name__])[line]


def _knock(address: str) -> None:
    """Raise OSError if nothing listens at `host:port`: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_SECONDS).close()


class _Workers(NamedTuple):
    """How tasks reach the workers, and what their deaths are called."""

    submit: Callable[..., Any]
    result: Callable[[Any], list[Any]]
    deaths: tuple[type[Exception], ...]


class BatchEngine(contextlib.ExitStack):
    """Runs the batches of a stage; its processes and cluster live until it is closed.

    Messages name the section of conf (`collection`, `cleaning`).
    """

    def __init__(self, params: BatchEngineParams, section: str) -> None:
        super().__init__()
        self._params, self._section = params, section

    def over(
        self, function: Callable[[Task], Iterable[Part]], tasks: Iterable[Task]
    ) -> Iterator[Part]:
        """Yield the parts that a function returns for each task, in the order of the tasks.

        With one local worker parts come one by one, else when their task is done. Tasks, which
        must be picklable, are taken as they are needed. The function must be a module's function,
        or a `partial` of one, so that other processes can load it.

        Raises:
            InputError: as by the function; or a worker has ended, Ray or its cluster is missing, or
                the cluster may write texts to disk without permission.
        """
        if self._params.engine == "local" and self._params.workers == 1:
            return chain.from_iterable(map(function, tasks))
        return self._in_workers(function, tasks)

    def _in_workers(
        self, function: Callable[[Task], Iterable[Part]], tasks: Iterable[Task]
    ) -> Iterator[Part]:
        waiting: deque[Any] = deque()
        try:
            for task in tasks:
                waiting.append(self._workers.submit(function, task))
                if len(waiting) >= _AHEAD * self._params.workers:
                    yield from self._result(waiting.popleft())
            while waiting:
                yield from self._result(waiting.popleft())
        finally:
            for future in waiting:
                if isinstance(future, Future):
                    future.cancel()

    def _result(self, waiting: Any) -> list[Any]:
        try:
            return self._workers.result(waiting)
        except self._workers.deaths as error:
            raise InputError(
                f"{self._section}: a worker process ended, perhaps for lack of memory; try fewer "
                f"workers ({self._section}.workers) or smaller batches: {root_line(error)}"
            ) from error

    @cached_property
    def _workers(self) -> _Workers:
        params, section = self._params, self._section
        if params.engine == "local":
            pool = ProcessPoolExecutor(params.workers, get_context("spawn"))
            self.callback(partial(pool.shutdown, cancel_futures=True))
            return _Workers(
                lambda *task: pool.submit(_parts, *task), Future.result, (BrokenProcessPool,)
            )
        require_leave_to_spill(params.ray, section)
        ray = loaded_ray(section)
        spill_to = self.enter_context(_memory_folder())
        self.enter_context(cluster(ray, params.ray.address, params.workers, section, spill_to))
        deaths = (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError)
        return _Workers(ray.remote(_parts).remote, partial(on_ray, ray), deaths)


def _parts(function: Callable[[Any], Iterable[Any]], task: Any) -> list[Any]:
    return list(function(task))


def on_ray(ray: Any, reference: Any) -> Any:
    """Return what a task on Ray returned, or raise the error it raised."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, InputError):
            raise error.cause from None
        raise


def require_leave_to_spill(params: BatchClusterParams, section: str) -> None:
    """Raise InputError if Ray may write texts to disk and conf does not allow it."""
    if params.allow_spill or (params.address is None and _MEMORY.is_dir()):
        return
    raise InputError(
        f"{section}.engine is ray: when its store is full, Ray writes texts of documents and "
        "questions, also of questions that will be closed, to the disks of the cluster; set "
        f"{section}.ray.allow_spill: true to allow it, or {section}.engine: local"
    )


@contextlib.contextmanager
def _memory_folder() -> Iterator[Path | None]:
    """Make a temporary folder, in memory if possible, while the block runs."""
    if not _MEMORY.is_dir():
        yield None
        return
    with tempfile.TemporaryDirectory(
        prefix="benchwright-ray-", dir=_MEMORY, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)
