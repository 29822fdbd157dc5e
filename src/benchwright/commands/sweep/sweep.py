"""A sweep of this project: Kedro sessions in one process, one summary, one MLflow run above all."""

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchwright import tracking
from benchwright.commands.sweep.combinations import Combination, combine, refuse_swept_parameters
from benchwright.commands.sweep.loop import run_combinations
from benchwright.commands.sweep.page import render_sweep
from benchwright.commands.sweep.summary import SweepRun, summarise_sweep
from benchwright.core.errors import InputError
from benchwright.datasets.atomic import written_aside
from benchwright.params.run import check_run_values
from benchwright.project_conf import load_conf, pipeline_defaults

logger = logging.getLogger(__name__)


class SweepRequest(NamedTuple):
    """What to sweep.

    Attributes:
        project: the project's folder.
        benchmarks: names; none stands for conf's default. So for seeds, and for variants: that of
            the pipeline where it has one.
        pipeline: a registered pipeline.
        params: as `--params`, nested; the same for every combination.
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
    """What a sweep left: its runs, their table and the folder of the summary."""

    runs: list[SweepRun]
    summary: pd.DataFrame
    folder: Path
    mlflow_run: str | None

    @property
    def exit_code(self) -> int:
        """0 if all is done, 130 after Ctrl-C, otherwise 1."""
        states = set(self.summary["status"])
        return 130 if "interrupted" in states else int(states != {"done"})


def run_sweep(request: SweepRequest, say: Callable[[str], None]) -> SweepResult:
    """Run every combination in this process and write the summary after each of them.

    The summary is `summary.csv`, `.parquet` and `.html` in
    `<data_root>/08_reporting/sweeps/<start>`. Must be called in a bootstrapped project.

    Raises:
        InputError: a benchmark, variant, pipeline, runner or parameter is not known; before
            anything runs.
    """
    todo, data_root = _plan(request)
    make_runner = _runner(request.runner)
    started = datetime.now(UTC).strftime("%Y-%m-%dT%H.%M.%S.%f")[:-3] + "Z"
    folder = data_root / "08_reporting" / "sweeps" / started
    parent = _Parent(request, todo)

    def execute(combination: Combination) -> SweepRun:
        return _run_one(request, combination, make_runner(), parent.run_id)

    def keep(runs: list[SweepRun]) -> None:
        write_summary(summarise_sweep(runs), folder, request.pipeline, started)

    say(f"{len(todo)} combination{'s' * (len(todo) != 1)} of {request.pipeline}; summary: {folder}")
    runs = run_combinations(todo, execute, say, keep)
    keep(runs)
    result = SweepResult(runs, summarise_sweep(runs), folder, parent.run_id)
    parent.finish(result)
    return result


def write_summary(summary: pd.DataFrame, folder: Path, pipeline: str, started: str) -> list[Path]:
    """The summary as CSV, Parquet and page, each written aside and renamed."""
    paths = [folder / f"summary.{kind}" for kind in ("csv", "parquet", "html")]
    with written_aside(paths[0]) as aside:
        summary.to_csv(aside, index=False)
    with written_aside(paths[1]) as aside:
        summary.to_parquet(aside, index=False)
    with written_aside(paths[2]) as aside:
        aside.write_text(render_sweep(summary, pipeline, started, folder), encoding="utf-8")
    return paths


def _plan(request: SweepRequest) -> tuple[list[Combination], Path]:
    """The combinations and the data folder, once every name in the request is known to exist."""
    from kedro.framework.project import pipelines

    from benchwright.hooks import unknown_parameters

    refuse_swept_parameters(request.params)
    check_run_values(request.params)
    if request.pipeline not in pipelines:
        known = ", ".join(sorted(name for name in pipelines if name != "__default__"))
        raise InputError(f"--pipeline {request.pipeline!r} is not known; there are {known}")

    def parameters(**chosen: str) -> dict[str, Any]:
        conf = load_conf(request.project, request.env, {**request.params, **chosen})
        return dict(conf["parameters"])

    own = pipeline_defaults(request.project, request.env, request.pipeline)
    benchmarks = request.benchmarks or list(filter(None, [own.get("benchmark")]))
    variants = request.variants or list(filter(None, [own.get("variant")]))
    first = {"benchmark": benchmarks[:1], "variant": variants[:1]}
    chosen = {key: names[0] for key, names in first.items() if names}
    declared = dict(load_conf(request.project, request.env, chosen)["parameters"])
    problem = unknown_parameters(request.params, declared)
    if problem:
        raise InputError(problem)
    for benchmark in request.benchmarks[1:]:
        parameters(**{**chosen, "benchmark": benchmark})
    for variant in request.variants[1:]:
        parameters(**{**chosen, "variant": variant})
    resolved = parameters(**chosen)
    todo = combine(
        benchmarks or [str(resolved["benchmark"])],
        variants or [str(resolved["variant"])],
        request.seeds or [int(resolved["seed"])],
    )
    return todo, request.project / str(resolved["data_root"])


def _runner(name: str) -> Callable[[], Any]:
    from kedro import runner
    from kedro.utils import load_obj

    try:
        made: Callable[[], Any] = load_obj(name, "kedro.runner")
    except (AttributeError, ImportError, ValueError) as error:
        known = ", ".join(sorted(known for known in dir(runner) if known.endswith("Runner")))
        raise InputError(f"--runner {name!r} is not known; Kedro has {known}") from error
    return made


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
            member.version = str(session.store["session_id"])
            session.run(pipeline_names=[request.pipeline], runner=runner)
    finally:
        tracking.sweep_member.reset(token)
    return SweepRun(
        combination,
        "done",
        version=member.version,
        metrics=member.metrics,
        report=member.report,
    )


class _Parent:
    """The sweep's own MLflow run; a tracking store that is away must not stop the sweep."""

    def __init__(self, request: SweepRequest, todo: Sequence[Combination]) -> None:
        self._conf = dict(load_conf(request.project, request.env)["mlflow"])
        self._project = request.project
        self.run_id: str | None = None
        if not tracking.tracking_is_on(self._conf):
            return
        options = {
            **{
                f"{name}s": list(dict.fromkeys(getattr(combination, name) for combination in todo))
                for name in Combination._fields
            },
            "params": dict(request.params),
            "env": request.env or "",
            "runner": request.runner,
        }
        try:
            self.run_id = tracking.start_sweep(
                self._conf, self._project, request.pipeline, len(todo), options
            )
        except Exception:
            logger.exception("this sweep could not be recorded in MLflow; its runs are saved")

    def finish(self, result: SweepResult) -> None:
        if self.run_id is None:
            return
        try:
            tracking.finish_sweep(
                self._conf,
                self._project,
                self.run_id,
                result.summary,
                sorted(result.folder.glob("summary.*")),
                {0: "FINISHED", 130: "KILLED"}.get(result.exit_code, "FAILED"),
            )
        except Exception:
            logger.exception("the summary of this sweep could not be recorded; it is saved")
