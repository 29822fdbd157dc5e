"""List what can be chosen, and the runs that are saved."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchwright.runs.project_conf import load_conf
from benchwright.runs.saved_runs import list_runs

Row = dict[str, Any]


def list_of(what: str, project: Path, env: str | None, params: Mapping[str, Any]) -> list[Row]:
    """Return a row for each of the benchmarks, variants, models, pipelines or runs.

    Args:
        what: one of these words.
        project: the project folder, bootstrapped.
        env: as `--env`.
        params: data_root, the folder with the runs; default: the one in conf/.
    """
    conf = load_conf(project, env, params)
    parameters, defaults = conf["parameters"], conf["globals"]
    if what == "runs":
        return [run._asdict() for run in list_runs(project / str(parameters["data_root"]))]
    if what == "pipelines":
        return _pipelines(defaults)
    if what == "models":
        named = parameters["models"]["models"]
        columns = {"model": "", "family": "", "size_b": "", "backend": "transformers"}
    else:
        named = parameters[f"_{what}"]
        columns = {what.removesuffix("s"): "", "title": "", "licence": "", "sources": ""}
        columns = columns if what == "benchmarks" else {"variant": "", "title": ""}
    return [
        {column: {**entry, first: name}.get(column, missing) for column, missing in columns.items()}
        for first in [next(iter(columns))]
        for name, entry in sorted(named.items())
    ]


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


def table_lines(rows: Sequence[Row]) -> list[str]:
    """Return a table whose first line names the columns; lists and mappings as their names."""
    cells = [list(rows[0])] if rows else []
    cells += [[_text(value) for value in row.values()] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]


def _text(value: Any) -> str:
    return (
        ", ".join(value) if isinstance(value, list | dict) else "–" if value is None else str(value)
    )
