"""The configuration loader, and OmegaConf resolvers that select one benchmark and one variant."""

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from kedro.config import OmegaConfigLoader
from omegaconf import DictConfig, OmegaConf

from benchwright.core.errors import InputError, causes

_GROUPS = {"_benchmarks": "benchmark", "_variants": "variant"}
_SUFFIXES = {".yml", ".yaml", ".json"}
_OF_CONF = {"omegaconf", "yaml"}


def _pick(root: DictConfig, group: str, name: str) -> DictConfig:
    known = root.get(group) or {}
    if name not in known:
        kind = _GROUPS.get(group, group)
        raise InputError(
            f"unknown {kind} {name!r}; expected one of {', '.join(sorted(map(str, known)))}"
        )
    chosen: DictConfig = known[name]
    return chosen


def choose(
    group: str, name: str, section: str | None = None, default: Any = None, *, _root_: DictConfig
) -> Any:
    """Resolve `${choose:_benchmarks,arc}` or `${choose:_benchmarks,arc,filter_models}`.

    Raises:
        InputError: the group has no such name; the message lists the names it has.
    """
    chosen = _pick(_root_, group, str(name))
    if section is None:
        return chosen
    value = chosen.get(section)
    return default if value is None else value


def settings(
    section: str, variant: str, benchmark: str, mode: str | None = None, *, _root_: DictConfig
) -> DictConfig:
    """Return one section of a variant, with the overrides of the benchmark.

    `mode` is the value of `--params score=…`. Unless it is `benchmark`, it replaces the section's
    `mode`.
    """
    layers = [
        _pick(_root_, "_variants", str(variant)).get(section) or {},
        _pick(_root_, "_benchmarks", str(benchmark)).get(section) or {},
    ]
    if mode not in (None, "benchmark"):
        layers.append({"mode": mode})
    return OmegaConf.merge(*layers)


def of_run(
    section: str,
    variant: str,
    benchmark: str,
    given: Any,
    name: str | None = None,
    *,
    _root_: DictConfig,
) -> Any:
    """Return a section, or one of its values, with `--params` applied; used in the catalog.

    `given` is the section's part of `--params`:
    `${of_run:difficulty,${_v},${_b},${runtime_params:difficulty,{}},answers_file}`.
    """
    overrides = given if isinstance(given, dict | DictConfig) else {}
    merged = OmegaConf.merge(settings(section, variant, benchmark, _root_=_root_), overrides)
    return merged if name is None else merged.get(name)


CONFIG_LOADER_ARGS: dict[str, Any] = {
    "base_env": "base",
    "default_run_env": "local",
    "merge_strategy": {"parameters": "soft"},
    "custom_resolvers": {"choose": choose, "settings": settings, "of_run": of_run},
    "config_patterns": {
        # The catalog depends on the files of benchmarks and variants. Their top keys begin with an
        # underscore, so that Kedro takes them neither for datasets nor for parameters.
        "catalog": [
            *("catalog*", "catalog*/**", "**/catalog*"),
            *("parameters/benchmarks/**", "parameters/variants/**"),
        ],
        "mlflow": ["mlflow*", "mlflow*/**"],
    },
}
"""Arguments of the config loader in Kedro's settings."""


class ConfLoader(OmegaConfigLoader):
    """Kedro's loader, which rejects a benchmark or variant that two files define.

    Kedro would merge the two files, since their top keys begin with an underscore. A file of the
    run's environment may override one of `base`.

    Raises:
        InputError: two files of one environment define the same benchmark or variant.
    """

    def __init__(self, conf_source: str, **arguments: Any) -> None:
        super().__init__(conf_source, **arguments)
        for env in dict.fromkeys((self.base_env, self.env or self.default_run_env)):
            folder = Path(self.conf_source) / str(env) / "parameters"
            if problem := _defined_twice(folder):
                raise InputError(problem)


def _defined_twice(folder: Path) -> str | None:
    seen: dict[tuple[str, str], Path] = {}
    for file in sorted(path for path in folder.rglob("*") if path.suffix in _SUFFIXES):
        for key in _names_in(file, file.stat().st_mtime_ns):
            other = seen.setdefault(key, file)
            if other != file:
                named = f"{_GROUPS[key[0]]} {key[1]!r}"
                return f"{named} is defined in both {other} and {file}; keep one of them"
    return None


@lru_cache(maxsize=1_000)  # a run creates several loaders
def _names_in(file: Path, changed: int) -> tuple[tuple[str, str], ...]:
    """Return the group and name of each benchmark and variant; none if the file is invalid."""
    import yaml

    content = file.read_bytes()
    if not any(group.encode() in content for group in _GROUPS):
        return ()
    try:
        loaded = yaml.safe_load(content)
    except (yaml.YAMLError, ValueError, RecursionError):
        return ()  # `conf_mistake` reports it
    groups = loaded if isinstance(loaded, dict) else {}
    return tuple(
        (group, str(name))
        for group in _GROUPS
        if isinstance(groups.get(group), dict)
        for name in groups[group]
    )


def load_conf(
    project: Path, env: str | None = None, params: Mapping[str, Any] | None = None
) -> OmegaConfigLoader:
    """Return a loader of one benchmark and variant; `load_conf(…)["catalog"]` is the catalog.

    `env` (default: the variable KEDRO_ENV) and `params` are those of `kedro run`.
    """
    arguments: dict[str, Any] = dict(CONFIG_LOADER_ARGS)
    return ConfLoader(
        conf_source=str(project / "conf"),
        env=env or os.environ.get("KEDRO_ENV"),
        runtime_params=dict(params or {}),
        **arguments,
    )


def conf_mistake(project: Path, error: BaseException) -> str | None:
    """Return a message for an error that a file in conf/ causes, or None.

    The message names an invalid YAML file and the position of the mistake. Other errors of
    OmegaConf are quoted.
    """
    for file in sorted((project / "conf").rglob("*.yml")):
        if (problem := _file_problem(file)) is not None:
            return f"{file}: {problem}"
    for cause in causes(error):
        if type(cause).__module__.partition(".")[0] in _OF_CONF:
            return f"conf: {_short(cause)}"
    return None


def _file_problem(file: Path) -> str | None:
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    try:
        loaded = OmegaConf.to_container(OmegaConf.load(file), resolve=False)
    except UnicodeDecodeError as error:
        return f"not valid UTF-8 (byte 0x{error.object[error.start]:02x}); save the file as UTF-8"
    except (YAMLError, OmegaConfBaseException, OSError, ValueError, RecursionError) as error:
        return _short(error)
    if not isinstance(loaded, dict):
        return "expected a mapping, got a list"
    for group in _GROUPS:
        named = loaded.get(group, {})
        if not isinstance(named, dict):
            return f"{group}: expected a mapping, got {named!r:.60}"
        for name, section in named.items():
            if not isinstance(section, dict):
                return f"{group}.{name}: expected a mapping, got {section!r:.60}"
    return None


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]


def pipeline_defaults(project: Path, env: str | None, pipeline: str | None) -> dict[str, str]:
    """Return the benchmark and variant that globals.yml sets for a pipeline.

    Each is in the result only if `default_benchmarks` or `default_variants` names it. `pipeline` is
    None for the default pipeline.
    """
    conf = load_conf(project, env)["globals"]
    chosen = {kind: (conf.get(f"default_{kind}s") or {}).get(pipeline) for kind in _GROUPS.values()}
    return {kind: str(name) for kind, name in chosen.items() if name is not None}
