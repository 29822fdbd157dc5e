"""`benchwright list`: what can be chosen by name, and the runs that are saved."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from benchwright.cli.command import Command, enter_project, in_project_folder
from benchwright.cli.options import POSITIVE, env_option, run_params
from benchwright.cli.outputs import print_lines, relative
from benchwright.core.configuration import STYLES
from benchwright.core.errors import InputError
from benchwright.core.text_table import table_lines
from benchwright.runs.project_conf import load_conf
from benchwright.runs.saved_runs import ListedRun, delete_runs, list_runs, old_runs

Row = dict[str, Any]

_LISTS = (
    "benchmarks",
    "variants",
    "models",
    "pipelines",
    "runs",
    "samplers",
    "estimators",
    "styles",
)


@click.command(cls=Command)
@click.argument("what", type=click.Choice(_LISTS))
@click.option("--data-root", help="Data folder with the runs. Default: the one in conf/.")
@click.option("--prune", type=POSITIVE, metavar="KEEP", help="Delete older runs; asks first.")
@env_option
@in_project_folder()
def list_command(what: str, data_root: str | None, env: str | None, prune: int | None) -> None:
    """List what can be chosen by name, or the runs whose tables are in the data folder.

    `list runs --prune 3` deletes what is older than the newest three finished runs of each
    benchmark, variant, limit and seed.
    """
    project = enter_project()
    params = run_params(data_root=data_root)
    if prune is None:
        print_lines(table_lines(list_of(what, project, env, params)) or [f"no {what}"])
    elif what == "runs":
        _prune(prune, project, env, params)
    else:
        raise InputError(f"--prune deletes runs: list runs --prune {prune}")


def _prune(keep: int, project: Path, env: str | None, params: Mapping[str, Any]) -> None:
    """Delete older runs, once the user has confirmed it."""
    folder, runs = saved_runs_of(project, env, params)
    old = old_runs(runs, keep)
    if not old:
        click.echo("no older runs")
        return
    print_lines(table_lines([run._asdict() for run in old]))
    click.confirm(f"delete {len(old)} of {len(runs)} runs from {relative(folder)}?", abort=True)
    delete_runs(folder, old)


def list_of(what: str, project: Path, env: str | None, params: Mapping[str, Any]) -> list[Row]:
    """Return a row for each of what is listed.

    Args:
        what: benchmarks, variants, models, pipelines, runs, samplers, estimators or styles.
        project: the project folder, bootstrapped.
        env: as `--env`.
        params: data_root, the folder with the runs; default: the one in conf/.
    """
    if what in _REGISTRIES:
        return _REGISTRIES[what]()
    conf = load_conf(project, env, params)
    parameters, defaults = conf["parameters"], conf["globals"]
    if what == "runs":
        return [run._asdict() for run in saved_runs_of(project, env, params)[1]]
    if what == "pipelines":
        return _pipelines(defaults)
    if what == "benchmarks":
        return [
            _benchmark(name, entry) for name, entry in sorted(parameters["_benchmarks"].items())
        ]
    if what == "models":
        named = parameters["models"]["models"]
        columns = {"model": "", "family": "", "size_b": "", "backend": "transformers"}
    else:
        named, columns = parameters[f"_{what}"], {"variant": "", "title": ""}
    return [
        {column: {**entry, first: name}.get(column, missing) for column, missing in columns.items()}
        for first in [next(iter(columns))]
        for name, entry in sorted(named.items())
    ]


def saved_runs_of(
    project: Path, env: str | None, params: Mapping[str, Any]
) -> tuple[Path, list[ListedRun]]:
    """Return the data folder, and the runs that it has."""
    folder = project / str(load_conf(project, env, params)["parameters"]["data_root"])
    if "data_root" in params and not folder.exists():
        raise InputError(f"--data-root {folder}: there is no such folder")
    return folder, list_runs(folder)


def _benchmark(name: str, entry: Mapping[str, Any]) -> Row:
    sources, responses = entry.get("sources") or {}, entry.get("responses") or []
    online = "hub" in sources and "mirror" not in sources
    needs = [
        "network or mirror_root" * online,
        "mirror_root" * ("mirror" in sources),
        "models" * (not responses and "local" not in sources),
    ]
    return {
        "benchmark": name,
        "title": entry.get("title", ""),
        "licence": entry.get("licence", ""),
        "needs": ", ".join(filter(None, needs)) or "nothing",
    }


def _pipelines(defaults: Mapping[str, Any]) -> list[Row]:
    from kedro.framework.project import pipelines

    return [
        {
            "pipeline": name,
            "nodes": len(pipelines[name].nodes),
            **{
                kind: (defaults.get(f"default_{kind}s") or {}).get(
                    name, defaults[f"default_{kind}"]
                )
                for kind in ("benchmark", "variant")
            },
        }
        for name in sorted(pipelines)
        if name != "__default__"
    ]


def _samplers() -> list[Row]:
    from benchwright.methods.dele.samplers.registry import sampler_kinds
    from benchwright.params.sampling import SamplingParams

    kinds = sampler_kinds(SamplingParams()).items()
    return [{"sampler": n, "family": k.family, "reads": k.reads or "ids"} for n, k in kinds]


def _estimators() -> list[Row]:
    from benchwright.methods.dele.estimation.registry import ESTIMATORS

    needs = {"nothing": "the answers alone", "item_response": "training models, for a 2PL model"}
    return [
        {"estimator": name, "needs": needs.get(kind.uses, "training models")}
        for name, kind in ESTIMATORS.items()
    ]


def _styles() -> list[Row]:
    return [{"style": name, "scored": scored} for name, scored in STYLES.items()]


_REGISTRIES = {"samplers": _samplers, "estimators": _estimators, "styles": _styles}
