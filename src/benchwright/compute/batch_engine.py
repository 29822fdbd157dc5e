"""One function over many tasks, in order: in this process, in several, or on a Ray cluster."""

import contextlib
import io
import pickle
import tempfile
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

from benchwright.compute.ray_cluster import cluster, loaded_ray, quiet_data, root_line
from benchwright.core.errors import InputError, one_line
from benchwright.params.mmlu_cf import BatchClusterParams, BatchEngineParams

Task = TypeVar("Task")
Part = TypeVar("Part")

_AHEAD = 2  # tasks of each worker that run or wait, for processes
_WINDOW_BYTES = 256 << 20  # of tasks that Ray's store holds at once
_MEMORY = Path("/dev/shm")  # noqa: S108 - kept in memory
_ROW = pa.schema(
    [("part", pa.large_binary()), ("fault", pa.large_string()), ("traceback", pa.large_string())]
)


class BatchEngine(contextlib.ExitStack):
    """Where the batches of a stage are worked on; processes and cluster live until it is closed.

    Args:
        params: where, and how many at once.
        section: of conf (`collection`, `cleaning`), for messages.
    """

    def __init__(self, params: BatchEngineParams, section: str) -> None:
        super().__init__()
        self._params, self._section = params, section
        self._pool: ProcessPoolExecutor | None = None
        self._ray: Any = None

    def over(
        self, function: Callable[[Task], Iterable[Part]], tasks: Iterable[Task]
    ) -> Iterator[Part]:
        """What a function gives for each task, in the order of the tasks.

        With one local worker the parts of a task come one by one; with several, when it is done;
        on Ray, each part is an object of its own. Tasks are taken as they are needed.

        Args:
            function: of a module, or a `partial` of one, so that other processes can load it.
            tasks: what can be pickled.

        Raises:
            InputError: as the function does; or a worker has ended, Ray or its cluster cannot be
                had, or the cluster may write texts to disk and no leave is given.
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
                f"{self._section}: a worker process ended, perhaps for want of memory; fewer of "
                f"them ({self._section}.workers) or smaller batches may do"
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
            except _crashes(ray) as error:
                raise InputError(
                    f"{self._section}: Ray's workers ended again and again, perhaps for want of "
                    f"memory; fewer of them ({self._section}.workers) or smaller batches may do: "
                    f"{root_line(error)}"
                ) from error

    def _outcomes(
        self, ray: Any, function: Callable[[Task], Iterable[Part]], window: list[pa.Table]
    ) -> Iterable[pa.Table]:
        # One block per task: Ray hands on, and does again, whole blocks.
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
    """Raise InputError where Ray may write texts to disk and nobody has allowed it."""
    if params.allow_spill or (params.address is None and _MEMORY.is_dir()):
        return
    raise InputError(
        f"{section}.engine is ray: where its store is full, Ray writes texts of documents and "
        "questions to the disks of the cluster, also of questions that will be closed; set "
        f"{section}.ray.allow_spill: true if that may be, or {section}.engine: local"
    )


def outcomes(tasks: pa.Table, function: Callable[[Any], Iterable[Any]]) -> Iterator[pa.Table]:
    """`function` for `Dataset.map_batches`: a table of one row for each part.

    Instead of a part, `fault` says what the user can mend, or `traceback` what it was: Ray would
    wrap an exception into its own.
    """
    yield _ROW.empty_table()
    for task in tasks.column("task").to_pylist():
        try:
            for part in function(pickle.loads(task)):  # noqa: S301 - from our own process
                yield _row(part=_dumped(part))
        except Exception as error:
            told = one_line(error)
            if told is not None:
                yield _row(fault=told)
            else:
                yield _row(traceback="".join(format_exception(error)))


class _Pickler(pickle.Pickler):
    """Tables as Arrow streams: pickle alone would write the whole table of which one is a slice."""

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
    """The part in a row of `outcomes`; raises what the worker met."""
    if row["fault"] is not None:
        raise InputError(row["fault"])
    if row["traceback"] is not None:
        raise RuntimeError(f"a worker failed:\n{row['traceback']}")
    return pickle.loads(row["part"])  # noqa: S301 - from our own workers


def _windows(tasks: Iterable[Any]) -> Iterator[list[pa.Table]]:
    """Tasks as tables of one row, as many at once as `_WINDOW_BYTES` hold."""
    window: list[pa.Table] = []
    for task in tasks:
        window.append(task_table(task))
        if sum(table.nbytes for table in window) >= _WINDOW_BYTES:
            yield window
            window = []
    if window:
        yield window


def task_table(task: Any) -> pa.Table:
    """One task as a table of one row, as `outcomes` takes it."""
    return pa.table({"task": pa.array([_dumped(task)], pa.large_binary())})


def _crashes(ray: Any) -> tuple[type[Exception], ...]:
    return (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError)


@contextlib.contextmanager
def _memory_folder() -> Iterator[Path | None]:
    """A folder in memory while the block runs, where this machine has such."""
    if not _MEMORY.is_dir():
        yield None
        return
    with tempfile.TemporaryDirectory(
        prefix="benchwright-ray-", dir=_MEMORY, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)
