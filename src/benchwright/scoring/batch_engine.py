"""One function over many tasks, in order: in this process, in several, or on a Ray cluster."""

import contextlib
import copyreg
import logging
import os
import secrets
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from functools import cached_property, partial
from itertools import chain
from multiprocessing import get_context
from typing import Any, NoReturn, TypeVar

import pyarrow as pa

from benchwright.core.errors import InputError, causes
from benchwright.params.mmlu_cf import BatchEngineParams

_KNOCK_SECONDS = 10.0
Task = TypeVar("Task")
Part = TypeVar("Part")
_AHEAD = 2  # tasks per worker that run or wait
_DEATHS = ("BrokenProcessPool", "RayActorError", "WorkerCrashedError", "OutOfMemoryError")


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
def cluster(ray: Any, address: str | None, cores: int, section: str) -> Iterator[None]:
    """Connect to the cluster at `address`, or run one on this machine, while the block runs.

    A cluster that is started has so many cores. Messages name the section of conf.

    Raises:
        InputError: no cluster can be reached at the address.
    """
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address is None:
        # Otherwise Ray writes one into the home folder, which may not exist.
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        ray.init(address="local", num_cpus=cores, include_dashboard=False, **quiet)
    else:
        try:
            _knock(address)
            ray.init(address=address, **quiet)
        except (OSError, ValueError, ImportError, ray.exceptions.RayError) as error:
            raise InputError(
                f"{section}.ray.address {address!r}: no Ray cluster can be reached there "
                f"({root_line(error)}); start one with `ray start --head`, or leave the "
                "address out to use this machine alone"
            ) from error
    try:
        yield
    finally:
        ray.shutdown()


def root_line(error: BaseException) -> str:
    """Return the last line of an error's root cause."""
    *_, root = causes(error)
    return (str(root).strip().splitlines() or [type(root).__name__])[-1]


def _knock(address: str) -> None:
    """Raise OSError if nothing listens at `host:port`: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_SECONDS).close()


class BatchEngine(contextlib.ExitStack):
    """Runs the batches of a stage; its processes and cluster live until it is closed.

    Messages name the section of conf (`collection`, `cleaning`).
    """

    def __init__(self, params: BatchEngineParams, section: str) -> None:
        super().__init__()
        self._params = params
        self._section = section

    def over(
        self, function: Callable[[Task], Iterable[Part]], tasks: Iterable[Task]
    ) -> Iterator[Part]:
        """Yield the parts that a function returns for each task, in the order of the tasks.

        Tasks, which must be picklable, are taken as they are needed. The function must be a
        module's function, or a `partial` of one, so that other processes can load it.

        Raises:
            InputError: a worker has ended, or Ray or its cluster is missing or may write texts.
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
                submit, result = self._workers
                waiting.append(submit(function, task))
                if len(waiting) >= _AHEAD * self._params.workers:
                    yield from result(waiting.popleft())
            while waiting:
                yield from result(waiting.popleft())
        except Exception as error:
            raise_for_worker(
                error, f"{self._section}: a worker process", f"{self._section}.workers"
            )

    @cached_property
    def _workers(self) -> tuple[Callable[..., Any], Callable[[Any], list[Any]]]:
        """How tasks reach the workers, and how their results come back."""
        params = self._params
        section = self._section
        if params.engine == "local":
            pool = ProcessPoolExecutor(params.workers, get_context("spawn"))
            self.callback(partial(pool.shutdown, cancel_futures=True))
            return lambda *task: pool.submit(_parts, *task), Future.result
        if not params.ray.allow_spill:
            raise InputError(
                f"{section}.engine is ray: when its store is full, Ray writes texts of documents "
                "and questions, also of questions that will be closed, to disk; set "
                f"{section}.ray.allow_spill: true to allow it, or {section}.engine: local"
            )
        ray = loaded_ray(section)
        self.enter_context(cluster(ray, params.ray.address, params.workers, section))
        return ray.remote(_parts).remote, ray.get


def _parts(function: Callable[[Any], Iterable[Any]], task: Any) -> list[Any]:
    return list(function(task))


def raise_for_worker(error: Exception, worker: str, setting: str) -> NoReturn:
    """Raise an error of a task as it is, the death of its worker as InputError."""
    cause = getattr(error, "cause", None)  # of Ray's error, what the task raised
    if isinstance(cause, InputError):
        raise cause from None
    if any(parent.__name__ in _DEATHS for parent in type(error).__mro__):
        raise InputError(
            f"{worker} ended, perhaps for lack of memory; try fewer of them ({setting}) or smaller "
            f"batches: {root_line(error)}"
        ) from error
    raise error
