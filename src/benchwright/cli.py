"""The project's commands: Kedro's own `run`, sweeps, and what changed between two refinements."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import click
from kedro.framework.cli.project import run as kedro_run
from kedro.framework.cli.utils import _split_params, env_option

from benchwright.errors import InputError, one_line
from benchwright.project_conf import default_variant


@contextmanager
def _mistakes_in_one_line() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        message = one_line(error)
        if message is None or os.environ.get("BENCHWRIGHT_TRACEBACK"):
            raise
        click.secho(f"benchwright: {message}", err=True, fg="red")
        sys.exit(1)


def _told(command: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(command)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        with _mistakes_in_one_line():
            return command(*arguments, **options)

    return wrapped


def _with_default_variant(command: Callable[..., Any]) -> Callable[..., Any]:
    """Without a variant in `--params`, that of the pipeline (`default_variants` in globals.yml)."""

    @wraps(command)
    def wrapped(**options: Any) -> Any:
        params = dict(options["params"] or {})
        asked = [options["pipeline"], *(options["pipelines"] or [])]
        if params.get("variant") is None:
            variant = default_variant(_project(), options["env"], next(filter(None, asked), None))
            params |= {"variant": variant} if variant else {}
        return command(**{**options, "params": params})

    return wrapped


class _RunByDefault(click.Group):
    """A group that takes options without a command for those of `run`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        asked_for_help = args[:1] in (["--help"], ["-h"])
        if not asked_for_help and (not args or args[0].startswith("-")):
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(
    name="benchwright",
    cls=_RunByDefault,
    epilog="Without a command: run.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
def cli() -> None:
    """Refine a benchmark, sweep over settings, compare refinements."""


run = click.Command(
    name="run",
    callback=_told(_with_default_variant(kedro_run.callback)),  # type: ignore[arg-type]
    params=kedro_run.params,
    help=kedro_run.help,
    context_settings=kedro_run.context_settings,
)
"""`kedro run`, with the user's mistakes told in one line."""

cli.add_command(run)


def _project() -> Path:
    from kedro.framework.startup import bootstrap_project
    from kedro.utils import find_kedro_project

    found = find_kedro_project(Path.cwd())
    if found is None:
        raise InputError(f"{Path.cwd()} is in no Kedro project; change to the project's folder")
    bootstrap_project(found)
    return Path(found)


def _shown(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


@cli.command()
@click.option("--benchmarks", default="", metavar="A,B", help="Benchmarks, by comma.")
@click.option("--variants", default="", metavar="X,Y", help="Variants, by comma.")
@click.option("--seeds", default="", metavar="0,1", help="Seeds, by comma.")
@click.option("--pipeline", "-p", default="smart", show_default=True, help="What to run.")
@click.option(
    "--params",
    type=click.UNPROCESSED,
    default="",
    metavar="K=V,…",
    callback=_split_params,
    help="As of kedro run; the same for all combinations.",
)
@click.option("--runner", "-r", default="SequentialRunner", show_default=True, help="Kedro runner.")
@env_option
@_told
def sweep(
    benchmarks: str,
    variants: str,
    seeds: str,
    pipeline: str,
    params: dict[str, Any],
    runner: str,
    env: str | None,
) -> None:
    """Run a pipeline for every benchmark, variant and seed, and summarise.

    What is not given is conf's default. One combination that fails does not stop the others; the
    exit code is then 1. Ctrl-C stops after the summary of what is done is written.
    """
    from benchwright.sweeps.combinations import split_names, split_seeds
    from benchwright.sweeps.sweep import SweepRequest, run_sweep

    request = SweepRequest(
        project=_project(),
        benchmarks=split_names(benchmarks),
        variants=split_names(variants),
        seeds=split_seeds(seeds),
        pipeline=pipeline,
        params=params or {},
        env=env,
        runner=runner,
    )
    result = run_sweep(request, lambda line: click.secho(line, err=True, bold=True))
    columns = ["benchmark", "variant", "seed", "status", "n_items", "n_kept", "kendall_tau_b"]
    click.echo("\n" + result.summary[columns].to_string(index=False, na_rep="–", float_format=_3))
    for failed in result.runs:
        if failed.error:
            click.secho(f"{failed.combination}: {failed.error}", err=True, fg="red")
    click.echo(f"\nsummary:    {_shown(result.folder / 'summary.html')}")
    if result.mlflow_run:
        click.echo(f"MLflow run: {result.mlflow_run}  (make mlflow)")
    if result.exit_code:
        sys.exit(result.exit_code)


def _3(value: float) -> str:
    return f"{value:.3f}"


@cli.command()
@click.argument("before", default="previous")
@click.argument("after", default="latest")
@click.option("--benchmark", default="", help="Whose runs; conf's default where not given.")
@click.option("--variant", default="", help="Whose runs; conf's default where not given.")
@click.option("--data-root", default="", help="The data folder, where it is not conf's.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The page to write, FILE.html; the tables go beside it.",
)
@env_option
@_told
def diff(
    before: str,
    after: str,
    benchmark: str,
    variant: str,
    data_root: str,
    out: Path | None,
    env: str | None,
) -> None:
    """Which items came in and went out between two refinements, and why.

    BEFORE and AFTER are versions (a beginning is enough), `latest`, `previous`, folders of runs
    or item_audit.parquet files. Without them: the last two runs.
    """
    from benchwright.refinement_diff_page import terminal_lines, write_diff
    from benchwright.saved_audits import compare_saved

    given = {"benchmark": benchmark, "variant": variant, "data_root": data_root}
    comparison = compare_saved(
        _project(), env, {key: text for key, text in given.items() if text}, before, after
    )
    click.echo("\n".join(terminal_lines(comparison)))
    page = out if out is not None else comparison.default_page
    click.echo(f"\ndiff: {_shown(write_diff(comparison, page))}")


@cli.command(name="evaluate-sealed")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--model", required=True, help="A name under models.models.")
@click.option("--style", default="letters", show_default=True, help="How it is asked.")
@click.option("--shots", default=0, show_default=True, type=click.IntRange(min=0))
@click.option(
    "--demonstrations",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The public validation.jsonl, whose items are shown as examples.",
)
@click.option("--key-file", default=None, help="Holds the key, where no variable does.")
@click.option("--min-group", default=50, show_default=True, type=click.IntRange(min=2))
@click.option("--send-to-server", is_flag=True, help="Let closed questions go to an endpoint.")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="The figures as FILE.json."
)
@env_option
@_told
def evaluate_sealed(
    file: Path,
    model: str,
    style: str,
    shots: int,
    demonstrations: Path | None,
    key_file: str | None,
    min_group: int,
    send_to_server: bool,
    out: Path | None,
    env: str | None,
) -> None:
    """Score a model on the closed half of a sealed benchmark; only aggregates are told.

    FILE is test.sealed, or validation.jsonl for the same figures of the public half. The key is
    read from the variable BENCHWRIGHT_SEAL_KEY or from --key-file.
    """
    from benchwright.evaluate_sealed import (
        SealedRequest,
        run_evaluate_sealed,
        terminal_lines,
        write_score,
    )
    from benchwright.params.sealing import SealingParams

    request = SealedRequest(file, model, style, shots, demonstrations, send_to_server)
    sealing = SealingParams(key_file=key_file, min_group=min_group)
    score = run_evaluate_sealed(_project(), env, request, sealing)
    click.echo("\n".join(terminal_lines(score)))
    if out is not None:
        click.echo(f"\nfigures: {_shown(write_score(request, score, out))}")
