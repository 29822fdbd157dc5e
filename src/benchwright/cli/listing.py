"""List what can be chosen, and the runs that are saved."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchwright.core.configuration import STYLES
from benchwright.core.errors import InputError
from benchwright.runs.project_conf import load_conf
from benchwright.runs.saved_runs import ListedRun, list_runs

Row = dict[str, Any]


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
