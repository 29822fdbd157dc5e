"""One function over many tasks, in order: in this process, in several, or on a Ray cluster."""

import contextlib
import io
import logging
import os
import pickle
import secrets
import signal
import socket
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from traceback import format_exception
from typing import Any, TypeVar

import pyarrow as pa

from benchwright.core.errors import InputError, causes, one_line
from benchwright.params.mmlu_cf import BatchClusterParams, BatchEngineParams

_KNOCK_SECONDS = 10.0
Task = TypeVar("Task")
Part = TypeVar("Part")
_AHEAD = 2  # tasks per worker process that run or wait
_WINDOW_BYTES = 256 << 20  # of tasks in Ray's store at once
_MEMORY = Path("/dev/shm")  # noqa: S108 - kept in memory
_ROW = pa.schema(
    [("part", pa.large_binary()), ("fault", pa.large_string()), ("traceback", pa.large_string())]
)


def loaded_ray(section: str) -> Any:
    """Import Ray with Ray Data; InputError if it is not installed."""
    try:
        import ray
        import ray.data
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
    with _own_sigterm():
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
    try:
        yield
    finally:
        ray.shutdown()


@contextlib.contextmanager
def _own_sigterm() -> Iterator[None]:
    """Restore the handler of SIGTERM, since Ray's has an unusual exit status."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def quiet_data(ray: Any, *, ordered: bool = False) -> Iterator[None]:
    """Disable the bars, banners and statistics of Ray Data."""
    context = ray.data.DataContext.get_current()
    options, log = context.execution_options, logging.getLogger("ray.data")
    before = context.enable_progress_bars, context.print_on_execution_start
    order, level = options.preserve_order, log.level
    context.enable_progress_bars = context.print_on_execution_start = False
    options.preserve_order = ordered or order
    log.setLevel(logging.CRITICAL)  # what fails is raised
    try:
        yield
    finally:
        context.enable_progress_bars, context.print_on_execution_start = before
        options.preserve_order = order
        log.setLevel(level)


def root_line(error: BaseException, line: int = 0) -> str:
    """Return the first or the last (−1) line of an error's root cause."""
    *_, root = causes(error)
    return (str(root).strip().splitlines() or [type(root).__name__])[line]


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
        self._params, self._section = params, section
        self._pool: ProcessPoolExecutor | None = None
        self._ray: Any = None

    def over(
        self, function: Callable[[Task], Iterable[Part]], tasks: Iterable[Task]
    ) -> Iterator[Part]:
        """Yield the parts that a function returns for each task, in the order of the tasks.

        With one local worker parts come one by one; with several, when their task is done; on Ray,
        each part is a separate object. Tasks, which must be picklable, are taken as they are
        needed. The function must be a module's function, or a `partial` of one, so that other
        processes can load it.

        Raises:
            InputError: as by the function; or a worker has ended, Ray or its cluster is missing, or
                the cluster may write texts to disk without permission.
        """
        if self._params.engine == "ray":
            return self._on_ray(function, tasks)
        if self._params.workers > 1:
            return self._in_processes(function, tasks)
        return chain.from_iterable(map(function, tasks))

    def _in_processes(
        self, function: Callable[[Task], Iterable[Part]], tasks: Iterable[Task]
    ) -> Iterator[Part]:
        workers = self._params.workers
        waiting: deque[Future[list[bytes]]] = deque()
        try:
            for task in tasks:
                waiting.append(self._processes().submit(_answered, function, _dumped(task)))
                if len(waiting) >= _AHEAD * workers:
                    yield from map(pickle.loads, waiting.popleft().result())
            while waiting:
                yield from map(pickle.loads, waiting.popleft().result())
        except BrokenProcessPool as error:
            raise InputError(
                f"{self._section}: a worker process ended, perhaps for lack of memory; try fewer "
                f"workers ({self._section}.workers) or smaller batches"
            ) from error
        finally:
            for future in waiting:
                future.cancel()

    def _processes(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self._params.workers, get_context("spawn"))
            self.callback(partial(self._pool.shutdown, cancel_futures=True))
        return self._pool

    def _on_ray(
        self, function: Callable[[Task], Iterable[Part]], tasks: Iterable[Task]
    ) -> Iterator[Part]:
        for window in _windows(tasks):
            ray = self._cluster()
            try:
                for table in self._outcomes(ray, function, window):
                    yield from map(part_of, table.to_pylist())
            except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError) as error:
                raise InputError(
                    f"{self._section}: Ray's workers ended repeatedly, perhaps for lack of memory; "
                    f"try fewer workers ({self._section}.workers) or smaller batches: "
                    f"{root_line(error)}"
                ) from error

    def _outcomes(
        self, ray: Any, function: Callable[[Task], Iterable[Part]], window: list[pa.Table]
    ) -> Iterable[pa.Table]:
        # One block per task: Ray passes on, and repeats, whole blocks.
        dataset = ray.data.from_arrow(window).map_batches(
            outcomes,
            fn_args=(function,),
            batch_format="pyarrow",
            batch_size=1,
            num_cpus=1,
            concurrency=self._params.workers,
        )
        tables: Iterable[pa.Table] = dataset.iter_batches(batch_size=None, batch_format="pyarrow")
        return tables

    def _cluster(self) -> Any:
        if self._ray is None:
            require_leave_to_spill(self._params.ray, self._section)
            ray = loaded_ray(self._section)
            spill_to = self.enter_context(_memory_folder())
            address, workers = self._params.ray.address, self._params.workers
            self.enter_context(cluster(ray, address, workers, self._section, spill_to))
            self.enter_context(quiet_data(ray, ordered=True))
            self._ray = ray
        return self._ray


def require_leave_to_spill(params: BatchClusterParams, section: str) -> None:
    """Raise InputError if Ray may write texts to disk and conf does not allow it."""
    if params.allow_spill or (params.address is None and _MEMORY.is_dir()):
        return
    raise InputError(
        f"{section}.engine is ray: when its store is full, Ray writes texts of documents and "
        "questions, also of questions that will be closed, to the disks of the cluster; set "
        f"{section}.ray.allow_spill: true to allow it, or {section}.engine: local"
    )


def outcomes(tasks: pa.Table, function: Callable[[Any], Iterable[Any]]) -> Iterator[pa.Table]:
    """Run `function` for `Dataset.map_batches`: yield a table of one row for each part.

    Instead of a part, a row has the `fault` that the user can fix, or another `traceback`: Ray
    would wrap an exception into its own.
    """
    yield _ROW.empty_table()
    for task in tasks.column("task").to_pylist():
        try:
            for part in function(pickle.loads(task)):  # noqa: S301 - from our own process
                yield _row(part=_dumped(part))
        except Exception as error:
            fault = one_line(error)
            if fault is not None:
                yield _row(fault=fault)
            else:
                yield _row(traceback="".join(format_exception(error)))


class _Pickler(pickle.Pickler):
    """Tables as Arrow streams: pickle alone would write the whole table of a slice."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, pa.Table):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, value.schema) as writer:
                writer.write_table(value)
            return _table, (sink.getvalue().to_pybytes(),)
        return NotImplemented


def _table(stream: bytes) -> pa.Table:
    return pa.ipc.open_stream(stream).read_all()


def _dumped(value: Any) -> bytes:
    sink = io.BytesIO()
    _Pickler(sink, pickle.HIGHEST_PROTOCOL).dump(value)
    return sink.getvalue()


def _answered(function: Callable[[Any], Iterable[Any]], task: bytes) -> list[bytes]:
    return [_dumped(part) for part in function(pickle.loads(task))]  # noqa: S301 - our own process


def _row(**outcome: bytes | str) -> pa.Table:
    return pa.Table.from_pylist([outcome], schema=_ROW)


def part_of(row: dict[str, Any]) -> Any:
    """Return the part in a row of `outcomes`; raise the worker's error."""
    if row["fault"] is not None:
        raise InputError(row["fault"])
    if row["traceback"] is not None:
        raise RuntimeError(f"a worker failed:\n{row['traceback']}")
    return pickle.loads(row["part"])  # noqa: S301 - from our own workers


def _windows(tasks: Iterable[Any]) -> Iterator[list[pa.Table]]:
    """Yield tasks as tables of one row, as many at once as `_WINDOW_BYTES` hold."""
    window: list[pa.Table] = []
    for task in tasks:
        window.append(task_table(task))
        if sum(table.nbytes for table in window) >= _WINDOW_BYTES:
            yield window
            window = []
    if window:
        yield window


def task_table(task: Any) -> pa.Table:
    """Return one task as a table of one row, as `outcomes` takes it."""
    return pa.table({"task": pa.array([_dumped(task)], pa.large_binary())})


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
