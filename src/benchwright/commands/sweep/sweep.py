"""Run a pipeline for every combination of a sweep in one process, and summarise the results."""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pandas as pd

from benchwright import tracking
from benchwright.commands.sweep.page import (
    Combination,
    SweepRun,
    duration,
    main_columns,
    render_sweep,
    summarise_sweep,
    write_main_columns,
)
from benchwright.core.atomic_files import written_aside
from benchwright.core.errors import InputError, one_line
from benchwright.core.stopping import end_workers
from benchwright.params.run import check_run_values, unknown_parameters
from benchwright.project_conf import check_pipelines, load_conf, pipeline_defaults, runner_class

logger = logging.getLogger(__name__)

Execute = Callable[[Combination], SweepRun]
Save = Callable[[list[SweepRun]], None]


class Interruption:
    """Ctrl-C during a sweep: it ends the current run (`raises`), but lets results be saved."""

    def __init__(self) -> None:
        self.requested = False
        self.raises = False

    @contextmanager
    def received(self) -> Iterator[None]:
        """Handle Ctrl-C within the block; do nothing outside the main thread."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        earlier = signal.signal(signal.SIGINT, self._on_signal)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, earlier)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        if self.raises:
            end_workers()
            raise KeyboardInterrupt


def remaining_seconds(runs: Sequence[SweepRun], todo: Sequence[Combination]) -> float:
    """Estimate the time for `todo`; 0 before the first run.

    The estimate for a combination is the time of the latest run of its benchmark and variant (whose
    scores and embeddings are stored), else of its benchmark, else the mean time.
    """
    mean = sum(run.seconds for run in runs) / len(runs) if runs else 0.0
    latest = {run.combination[:same]: run.seconds for run in runs for same in (1, 2)}
    return sum(latest.get(c[:2], latest.get(c[:1], mean)) for c in todo)


def run_combinations(
    todo: Sequence[Combination],
    execute: Execute,
    echo: Callable[[str], None],
    save: Save,
    clock: Callable[[], float] = time.monotonic,
) -> list[SweepRun]:
    """Run each combination and report progress.

    After an error, the combination is `failed` and the next one runs. After Ctrl-C, the current
    combination is `interrupted` and the others are `not_run`.

    Args:
        todo: the combinations, in order.
        execute: runs one combination; this function sets `seconds`.
        echo: prints a line.
        save: saves the runs so far; called after each run.
        clock: time in seconds.

    Returns:
        One entry per combination of `todo`.
    """
    runs: list[SweepRun] = []
    interruption = Interruption()
    with interruption.received():
        for number, combination in enumerate(todo, start=1):
            echo(f"[{number}/{len(todo)}] {combination}")
            started = clock()
            try:
                interruption.raises = True
                try:
                    run = execute(combination)
                finally:
                    interruption.raises = False
            except KeyboardInterrupt:
                interruption.requested = True
                run = SweepRun(combination, "interrupted")
            except Exception as error:
                run = SweepRun(combination, "failed", error=_message(error))
                if interruption.requested:  # the error may come from a stopped worker
                    run = SweepRun(combination, "interrupted")
            run = run._replace(seconds=clock() - started)
            runs.append(run)
            save(runs)
            echo(_progress(number, len(todo), run, remaining_seconds(runs, todo[number:])))
            if interruption.requested:
                break
    return runs + [SweepRun(combination, "not_run") for combination in todo[len(runs) :]]


def _message(error: Exception) -> str:
    message = one_line(error)
    if message is None or os.environ.get("BENCHWRIGHT_TRACEBACK"):
        logger.error("combination failed", exc_info=error)
    if message is None:
        message = " ".join(f"{type(error).__name__}: {error}".split())
    return message


def _progress(number: int, total: int, run: SweepRun, remaining: float) -> str:
    line = f"[{number}/{total}] {run.combination}: {run.status} in {duration(run.seconds)}"
    if run.error:
        line += f": {run.error}"
    elif "n_kept" in run.metrics and "n_items" in run.metrics:
        line += f", kept {run.metrics['n_kept']:,.0f} of {run.metrics['n_items']:,.0f}"
    left = total - number
    if left and run.status != "interrupted":
        line += f"; {left} remaining, about {duration(remaining)}"
    return line


class SweepRequest(NamedTuple):
    """The combinations of a sweep and the options of their runs.

    Attributes:
        project: the project folder.
        benchmarks, variants, seeds: empty for the defaults of the pipeline or of conf/.
        pipeline: a registered pipeline.
        params: nested `--params` of every run.
        env: as `--env`.
        runner: name of a Kedro runner.
    """

    project: Path
    benchmarks: Sequence[str] = ()
    variants: Sequence[str] = ()
    seeds: Sequence[int] = ()
    pipeline: str = "smart"
    params: Mapping[str, Any] = {}
    env: str | None = None
    runner: str = "SequentialRunner"


class SweepResult(NamedTuple):
    """The runs of a sweep, their table and the folder of the summary."""

    runs: list[SweepRun]
    summary: pd.DataFrame
    folder: Path
    mlflow_run: str | None

    @property
    def exit_code(self) -> int:
        """The exit code: 0 if all runs are done, 130 after Ctrl-C, else 1."""
        states = set(self.summary["status"])
        return 130 if "interrupted" in states else int(states != {"done"})


def run_sweep(request: SweepRequest, echo: Callable[[str], None]) -> SweepResult:
    """Run every combination in this process, and save the summary after each.

    The summary is `summary.csv`, `.parquet` and `.html` in
    `<data_root>/08_reporting/sweeps/<start>`. The project must be bootstrapped.

    Raises:
        InputError: a benchmark, variant, pipeline, runner or parameter is unknown; raised before
            the first run.
    """
    todo, data_root = _plan(request)
    make_runner = runner_class(request.runner)
    started = datetime.now(UTC).strftime("%Y-%m-%dT%H.%M.%S.%f")[:-3] + "Z"
    folder = data_root / "08_reporting" / "sweeps" / started
    parent = _start_recording(request, todo, started)

    def execute(combination: Combination) -> SweepRun:
        return _run_one(request, combination, make_runner(), parent)

    def save(runs: list[SweepRun]) -> None:
        write_summary(summarise_sweep(runs), folder, request.pipeline, started)

    echo(
        f"{len(todo)} combination{'s' * (len(todo) != 1)} of {request.pipeline}; summary: {folder}"
    )
    runs = run_combinations(todo, execute, echo, save)
    save(runs)
    result = SweepResult(runs, summarise_sweep(runs), folder, parent)
    _end_recording(request, result)
    return result


def write_summary(summary: pd.DataFrame, folder: Path, pipeline: str, started: str) -> None:
    """Save the summary as CSV, Parquet and HTML."""
    with written_aside(folder / "summary.csv") as aside:
        summary.to_csv(aside, index=False)
    with written_aside(folder / "summary.parquet") as aside:
        summary.to_parquet(aside, index=False)
    with written_aside(folder / "summary.html") as aside:
        aside.write_text(render_sweep(summary, pipeline, started, folder), encoding="utf-8")


def combine(
    benchmarks: Sequence[str], variants: Sequence[str], seeds: Sequence[int]
) -> list[Combination]:
    """Return the distinct combinations; seeds of a benchmark and variant are adjacent."""
    distinct = product(dict.fromkeys(benchmarks), dict.fromkeys(variants), dict.fromkeys(seeds))
    return [Combination(*combination) for combination in distinct]


def split_names(text: str) -> list[str]:
    """Split `"arc, mmlu"` into `["arc", "mmlu"]`; drop empty parts."""
    return [name for part in text.split(",") if (name := part.strip())]


def split_seeds(text: str) -> list[int]:
    """Split `"0,1"` into `[0, 1]`.

    Raises:
        InputError: a seed is not a non-negative integer.
    """
    for name in (names := split_names(text)):
        if not name.isdecimal():
            raise InputError(f"--seeds {name!r}: expected non-negative integers, e.g. 0,1,2")
    return [int(name) for name in names]


def check_no_swept_parameter(params: Mapping[str, Any]) -> None:
    """Check that `--params` contains no benchmark, variant or seed.

    Raises:
        InputError: one of them is in `params`.
    """
    for name in Combination._fields:
        if name in params:
            raise InputError(f"--params {name}=…: use --{name}s {params[name]} in a sweep")


def _plan(request: SweepRequest) -> tuple[list[Combination], Path]:
    """Check the names in the request; return the combinations and the data folder."""
    check_no_swept_parameter(request.params)
    check_run_values(request.params)
    check_pipelines([request.pipeline])

    def parameters(given: Mapping[str, Any]) -> dict[str, Any]:
        return dict(load_conf(request.project, request.env, given)["parameters"])

    defaults = pipeline_defaults(request.project, request.env, request.pipeline)
    names = {
        "benchmark": request.benchmarks or list(filter(None, [defaults.get("benchmark")])),
        "variant": request.variants or list(filter(None, [defaults.get("variant")])),
    }
    chosen = {kind: given[0] for kind, given in names.items() if given}
    if problem := unknown_parameters(request.params, parameters(chosen)):
        raise InputError(problem)
    for kind, given in names.items():
        for name in given[1:]:
            parameters({**request.params, **chosen, kind: name})
    resolved = parameters({**request.params, **chosen})
    todo = combine(
        names["benchmark"] or [str(resolved["benchmark"])],
        names["variant"] or [str(resolved["variant"])],
        request.seeds or [int(resolved["seed"])],
    )
    return todo, request.project / str(resolved["data_root"])


def _run_one(
    request: SweepRequest, combination: Combination, runner: Any, parent: str | None
) -> SweepRun:
    from kedro.framework.session import KedroSession

    member = tracking.SweepMember(parent=parent)
    token = tracking.sweep_member.set(member)
    try:
        made: Any = KedroSession.create(
            project_path=request.project,
            env=request.env,
            runtime_params={**request.params, **combination._asdict()},
        )
        with made as session:
            session.run(pipeline_names=[request.pipeline], runner=runner)
    finally:
        tracking.sweep_member.reset(token)
    found = (member.version, member.metrics, member.report, "", tuple(member.main))
    return SweepRun(combination, "done", 0.0, *found)


def _start_recording(
    request: SweepRequest, todo: Sequence[Combination], started: str
) -> str | None:
    """Return the id of the sweep's MLflow run, or None if tracking is off."""
    conf = dict(load_conf(request.project, request.env)["mlflow"])
    if not tracking.tracking_is_on(conf):
        return None
    swept = zip(Combination._fields, zip(*todo, strict=True), strict=True)
    options: dict[str, Any] = {f"{key}s": list(dict.fromkeys(values)) for key, values in swept}
    options |= {"params": request.params, "env": request.env, "runner": request.runner}
    name = f"sweep {request.pipeline} {started}"
    run_id = None
    with tracking.one_warning("this sweep"):
        run_id = tracking.start_sweep(conf, request.project, name, options)
    return run_id  # noqa: RET504


def _end_recording(request: SweepRequest, result: SweepResult) -> None:
    if result.mlflow_run is None:
        return
    main = list(main_columns(result.runs))
    means = result.summary.reindex(columns=main).astype(float).mean().dropna()
    with tracking.one_warning("the end of this sweep"):
        tracking.finish_sweep(
            dict(load_conf(request.project, request.env)["mlflow"]),
            request.project,
            result.mlflow_run,
            {str(name): float(mean) for name, mean in means.items()},
            f"```\n{write_main_columns(result.runs)}\n```",
            result.folder,
            {0: "FINISHED", 130: "KILLED"}.get(result.exit_code, "FAILED"),
        )
