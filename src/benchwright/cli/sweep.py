"""`benchwright sweep`: a pipeline for every combination, in one process, and a summary."""

import json
import logging
import math
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import click
import pandas as pd

from benchwright.cli.command import Command, enter_project, in_project_folder
from benchwright.cli.options import env_option, shown_option
from benchwright.cli.outputs import print_lines, relative
from benchwright.core.atomic_files import written_aside
from benchwright.core.errors import InputError, causes, missing_package, one_line
from benchwright.core.natural_order import in_order
from benchwright.core.printable import escape_controls
from benchwright.core.progress import say
from benchwright.params.run import check_run_values, unknown_parameters
from benchwright.runs import tracking
from benchwright.runs.project_conf import (
    check_pipelines,
    load_conf,
    pipeline_defaults,
    runner_class,
)

logger = logging.getLogger(__name__)

SUMMARY = "summary.csv"
_MOST_SHOWN = 5  # metrics in a table, which fit on a line of a terminal


def _read_params(ctx: click.Context, param: click.Parameter, value: str) -> Any:
    """Read `--params` as `kedro run` does."""
    from kedro.framework.cli.project import run

    [of_kedro] = [option for option in run.params if option.name == param.name]
    return of_kedro.callback(ctx, param, value)  # type: ignore[misc]


@click.command(cls=Command)
@click.option("--benchmarks", default="", metavar="A,B", help="Benchmarks to run.")
@click.option("--variants", default="", metavar="X,Y", help="Variants to run.")
@click.option("--seeds", default="", metavar="0,1", help="Seeds to run.")
@shown_option("--pipeline", "-p", default="smart", help="Pipeline to run.")
@click.option(
    "--params",
    type=click.UNPROCESSED,
    default="",
    metavar="K=V,…",
    callback=_read_params,
    help="Parameters of every run, as for `kedro run`.",
)
@shown_option("--runner", "-r", default="SequentialRunner", help="Kedro runner.")
@env_option
@in_project_folder()
def sweep_command(benchmarks: str, variants: str, seeds: str, **options: Any) -> None:
    """Run a pipeline for every benchmark, variant and seed.

    A summary compares the results. Options that are not given take their defaults from conf/. If a
    combination fails, the others still run and the exit code is 1. Ctrl-C stops the sweep; the
    summary then contains the finished runs.
    """
    request = SweepRequest(
        project=enter_project(),
        benchmarks=split_names(benchmarks),
        variants=split_names(variants),
        seeds=split_seeds(seeds),
        **options,
    )
    result = run_sweep(
        request, lambda line: click.secho(escape_controls(line), err=True, bold=True)
    )
    print_lines(["", *table_of_runs(result.runs)])
    say(f"\nsummary:    {relative(result.folder / SUMMARY)}")
    if result.mlflow_run:
        say(f"MLflow run: {result.mlflow_run}  (mlflow ui)")
    sys.exit(result.exit_code)


class Combination(NamedTuple):
    """One run of a sweep."""

    benchmark: str
    variant: str
    seed: int

    def __str__(self) -> str:
        """Return the name in progress lines: `arc · smart · seed 0`."""
        return f"{self.benchmark} · {self.variant} · seed {self.seed}"


class SweepRun(NamedTuple):
    """The result of one combination; one that did not run has no version and no metrics.

    `status` is `done`, `failed` or `interrupted`, `error` one line, and `main` names the
    metrics that the catalog lists for MLflow.
    """

    combination: Combination
    status: str
    seconds: float = 0.0
    version: str = ""
    metrics: Mapping[str, float] = {}
    error: str = ""
    main: Sequence[str] = ()


class SweepRequest(NamedTuple):
    """The combinations of a sweep, by default those of the pipeline, and options of their runs."""

    project: Path
    benchmarks: Sequence[str] = ()
    variants: Sequence[str] = ()
    seeds: Sequence[int] = ()
    pipeline: str = "smart"
    params: Mapping[str, Any] = {}
    env: str | None = None
    runner: str = "SequentialRunner"


class SweepResult(NamedTuple):
    """The runs of a sweep and the folder of the summary."""

    runs: list[SweepRun]
    folder: Path
    mlflow_run: str | None

    @property
    def exit_code(self) -> int:
        """The exit code: 0 if all runs are done, 130 after Ctrl-C, else 1."""
        states = {run.status for run in self.runs}
        return 130 if "interrupted" in states else int(states != {"done"})


def run_sweep(request: SweepRequest, echo: Callable[[str], None]) -> SweepResult:
    """Run every combination in this process, and save the summary after each.

    The summary is `summary.csv` in `<data_root>/08_reporting/sweeps/<start>`.
    The project must be bootstrapped.

    Raises:
        InputError: a benchmark, variant, pipeline, runner or parameter is unknown; raised before
            the first run.
    """
    todo, data_root = _plan(request)
    make_runner = runner_class(request.runner)
    started = datetime.now(UTC).strftime("%Y-%m-%dT%H.%M.%S.%f")[:-3] + "Z"
    folder = data_root / "08_reporting" / "sweeps" / started
    name = f"sweep {request.pipeline} {started}"
    echo(f"{len(todo)} × {request.pipeline}; summary: {folder}")
    conf = dict(load_conf(request.project, request.env)["mlflow"])
    parent = None
    if tracking.tracking_is_on(conf):
        swept = zip(Combination._fields, zip(*todo, strict=True), strict=True)
        options: dict[str, Any] = {n: getattr(request, n) for n in ("params", "env", "runner")}
        options |= {f"{key}s": list(dict.fromkeys(values)) for key, values in swept}
        with tracking.one_warning("this sweep"):
            parent = tracking.start_sweep(conf, request.project, name, options)
    token = tracking.sweep_parent.set(parent or "")
    try:
        runs = run_combinations(
            todo,
            lambda combination: _run_one(request, combination, make_runner()),
            echo,
            lambda runs: write_summary(runs, folder),
        )
    finally:
        tracking.sweep_parent.reset(token)
    result = SweepResult(runs, folder, parent)
    if parent:
        status = {0: "FINISHED", 130: "KILLED"}.get(result.exit_code, "FAILED")
        with tracking.one_warning("the end of this sweep"):
            tracking.finish_sweep(conf, request.project, parent, folder, status)
    return result


def run_combinations(
    todo: Sequence[Combination],
    execute: Callable[[Combination], SweepRun],
    echo: Callable[[str], None],
    save: Callable[[list[SweepRun]], None],
) -> list[SweepRun]:
    """Run each combination with `execute`, print a line, and `save` the runs so far.

    After an error, the combination is `failed` and the next one runs. After Ctrl-C, the current
    combination is `interrupted` and the others do not run.
    """
    runs: list[SweepRun] = []
    for number_of_run, combination in enumerate(todo, start=1):
        started = time.monotonic()
        try:
            run = execute(combination)
        except (KeyboardInterrupt, Exception) as error:
            if missing_package(error):
                raise
            stopped = any(isinstance(cause, KeyboardInterrupt) for cause in causes(error))
            status, message = ("interrupted", "") if stopped else ("failed", _message(error))
            run = SweepRun(combination, status, error=message)
        run = run._replace(seconds=time.monotonic() - started)
        runs.append(run)
        save(runs)
        line = f"[{number_of_run}/{len(todo)}] {combination}: {run.status}, {run.seconds:,.0f} s"
        echo(f"{line}: {run.error}" if run.error else line)
        if run.status == "interrupted":
            break
    return runs


def _message(error: BaseException) -> str:
    message = one_line(error)
    if message is None or os.environ.get("BENCHWRIGHT_TRACEBACK"):
        logger.error("combination failed", exc_info=error)
    return message or " ".join(f"{type(error).__name__}: {error}".split())


def _run_one(request: SweepRequest, combination: Combination, runner: Any) -> SweepRun:
    from kedro.framework.project import pipelines
    from kedro.framework.session import KedroSession

    params = {**request.params, **combination._asdict()}
    made: Any = KedroSession.create(
        project_path=request.project, env=request.env, runtime_params=params
    )
    with made as session:
        session.run(pipeline_names=[request.pipeline], runner=runner)
    run = SweepRun(combination, "done", version=str(made.session_id))
    outputs = pipelines[request.pipeline].all_outputs()
    for name, entry in load_conf(request.project, request.env, params)["catalog"].items():
        folder = request.project / str(entry.get("filepath", ""))
        file = folder / run.version / folder.name
        if name not in outputs or not entry.get("versioned") or not file.is_file():
            continue
        patterns = (entry.get("metadata") or {}).get("mlflow")
        if isinstance(patterns, list):
            metrics = {**run.metrics, **json.loads(file.read_text("utf-8"))}
            main = [*run.main, *tracking.main_metrics(metrics, patterns)]
            run = run._replace(metrics=metrics, main=main)
    return run


def main_metrics(runs: Sequence[SweepRun]) -> list[str]:
    """Return the metrics that the catalog lists for MLflow, of all runs."""
    return list(dict.fromkeys(name for run in runs for name in run.main))


def summarise_sweep(runs: Sequence[SweepRun]) -> pd.DataFrame:
    """Return one row per combination, in the given order.

    Columns: benchmark, variant, seed, status; the main metrics, then all others by name;
    wall_seconds, version, error. Missing values are NaN or NA. Counts (`n_…`) are Int64.
    """
    main = main_metrics(runs)
    names = [*main, *in_order({name for run in runs for name in run.metrics} - {*main})]
    rows = []
    for run in runs:
        row: dict[str, Any] = {**run.combination._asdict(), "status": run.status}
        for name in names:
            row[name] = run.metrics.get(name, math.nan)
        row |= {"wall_seconds": round(run.seconds, 3), "version": run.version, "error": run.error}
        rows.append(row)
    counts = dict.fromkeys((name for name in names if name.startswith("n_")), "Int64")
    return pd.DataFrame(rows).astype(counts)


def table_of_runs(runs: Sequence[SweepRun]) -> list[str]:
    """Return the first main metrics as lines of text, one per run."""
    columns = [*Combination._fields, "status", *main_metrics(runs)[:_MOST_SHOWN]]
    table = summarise_sweep(runs)[columns]
    written = table.astype(object).where(table.notna(), "–")
    return written.to_string(index=False, float_format="{:.3f}".format).splitlines()


def write_summary(runs: Sequence[SweepRun], folder: Path) -> None:
    """Save the summary as CSV."""
    with written_aside(folder / SUMMARY) as aside:
        summarise_sweep(runs).to_csv(aside, index=False)


def split_names(text: str) -> list[str]:
    """Split `"arc, mmlu"` into `["arc", "mmlu"]`; drop empty parts."""
    return [name for part in text.split(",") if (name := part.strip())]


def split_seeds(text: str) -> list[int]:
    """Split `"0,1"` into `[0, 1]`; InputError if a seed is not a non-negative integer."""
    for name in (names := split_names(text)):
        if not name.isdecimal():
            raise InputError(f"--seeds {name!r}: expected non-negative integers, e.g. 0,1,2")
    return [int(name) for name in names]


def _plan(request: SweepRequest) -> tuple[list[Combination], Path]:
    """Check the names in the request; return the combinations and the data folder."""
    for name in Combination._fields:
        if name in request.params:
            value = request.params[name]
            raise InputError(f"--params {name}=…: use --{name}s {value} in a sweep")
    check_run_values(request.params)
    check_pipelines([request.pipeline])
    defaults = pipeline_defaults(request.project, request.env, [request.pipeline])
    conf = dict(load_conf(request.project, request.env, defaults)["parameters"])
    if problem := unknown_parameters(request.params, conf):
        raise InputError(problem)
    every = product(  # seeds of a benchmark and variant are adjacent
        dict.fromkeys(request.benchmarks or [str(conf["benchmark"])]),
        dict.fromkeys(request.variants or [str(conf["variant"])]),
        dict.fromkeys(request.seeds or [int(conf["seed"])]),
    )
    todo = [Combination(*each) for each in every]
    for benchmark, variant in dict.fromkeys(combination[:2] for combination in todo):
        params = {**request.params, "benchmark": benchmark, "variant": variant}
        data_root = load_conf(request.project, request.env, params)["parameters"]["data_root"]
    return todo, request.project / str(data_root)
