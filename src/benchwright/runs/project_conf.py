"""The configuration loader, and OmegaConf resolvers that select one benchmark and one variant."""

import os
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from kedro.config import OmegaConfigLoader
from omegaconf import DictConfig, OmegaConf

from benchwright.core.enclosing_project import enclosing_project
from benchwright.core.errors import InputError, causes, expected, in_short
from benchwright.params.run import RUN_VALUES, check_run_values, run_part

# Kedro calls a deprecated function of OmegaConf.
warnings.filterwarnings("ignore", message=r"\s*register_new_resolver")

_GROUPS = {"_benchmarks": "benchmark", "_variants": "variant"}
_OF_CONF = {"omegaconf", "yaml"}
_WORDS = ("all", "forward", "strongest")  # that stand for models

NO_BENCHMARK = ""
"""The name that stands for a benchmark without settings of its own."""


def _pick(root: DictConfig, group: str, name: str) -> DictConfig:
    if group == "_benchmarks" and name == NO_BENCHMARK:
        return OmegaConf.create({})
    known = root.get(group) or {}
    if name not in known:
        kind = _GROUPS.get(group, group)
        raise InputError(f"unknown {kind} {name!r}; {expected(name, known)}")
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
) -> Any:
    """Return one section of a variant, with the overrides of the benchmark.

    A list or a word of the benchmark replaces the section. `mode` is the value of `--params
    score=…`. Unless it is `benchmark`, it replaces the section's `mode`.
    """
    of_benchmark = _pick(_root_, "_benchmarks", str(benchmark)).get(section) or {}
    of_variant = _pick(_root_, "_variants", str(variant)).get(section) or {}
    if not isinstance(of_benchmark, Mapping | DictConfig):
        return of_benchmark
    if mode in (None, "benchmark"):
        return OmegaConf.merge(of_variant, of_benchmark)
    return OmegaConf.merge(of_variant, of_benchmark, {"mode": mode})


CONFIG_LOADER_ARGS: dict[str, Any] = {
    "base_env": "base",
    "default_run_env": "local",
    "merge_strategy": {"parameters": "soft"},
    "custom_resolvers": {"choose": choose, "settings": settings},
    "config_patterns": {"mlflow": ["mlflow*", "mlflow*/**"]},
}
"""Arguments of the config loader in Kedro's settings."""


class ConfLoader(OmegaConfigLoader):
    """Kedro's loader, for which a benchmark or variant may be in any environment.

    Kedro resolves `base` before it merges the environment, and merges two files that define the
    same benchmark. The catalog reads parameters as `${of_run:…}`, and the subfolder of the run as
    `${part:}`. A table is not validated again by the run that saved it.

    Raises:
        InputError: the environment is unknown, two files of one environment define the same
            benchmark or variant, or a value such as `data_root` is invalid.
    """

    def __init__(self, conf_source: str, env: str | None = None, **arguments: Any) -> None:
        """Take the arguments of Kedro's loader; `env` is a folder of `conf_source`."""
        conf = Path(conf_source)
        name = env or arguments.get("default_run_env", "")
        if conf.is_dir() and not (conf / name).is_dir():  # else it is an archive
            known = [folder.name for folder in conf.iterdir() if folder.is_dir()]
            raise InputError(f"unknown environment {name!r} of {conf}; {expected(name, known)}")
        super().__init__(conf_source, env, **arguments)

    def __getitem__(self, key: str) -> dict[str, Any]:
        if key == "catalog":
            run = self["parameters"]
            part = run_part(run.get("limit"), run.get("seed"))
            folder = f"/{part}" if part else ""
            OmegaConf.register_resolver("of_run", partial(_value, run), replace=True)
            OmegaConf.register_resolver("part", lambda: folder, replace=True)
            entries = super().__getitem__(key)
            return {name: _validated_once(entry) for name, entry in entries.items()}
        if key != "parameters":
            return dict(super().__getitem__(key))
        parameters = dict(super().__getitem__(key))
        for name in ("filter_models", "evaluation_models"):  # `--params` joins models by `+`
            value = parameters.get(name)
            if isinstance(value, str) and value not in _WORDS:
                parameters[name] = value.split("+")
        checked = {"benchmark", "variant", *(self.runtime_params or {})}
        of_conf = {name: value for name, value in parameters.items() if name not in checked}
        check_run_values(of_conf, self._file_of, Path(self.conf_source).parent)
        self[key] = parameters  # Kedro and the catalog ask for them again
        return parameters

    def _file_of(self, name: str) -> str:
        """Return the file of conf/ that sets a name, as the beginning of a message."""
        conf = Path(self.conf_source)
        base, of_env, *_ = super()._read_raw_config("parameters")
        base_globals, globals_of_env, *_ = super()._read_raw_config("globals")
        for files in (of_env, globals_of_env, base_globals, base):
            for file, content in files.items():
                if name in content:
                    return f"{file.relative_to(conf.parent)}: "
        return f"{conf}: "

    def _read_raw_config(self, key: str) -> tuple[Any, ...]:
        base, of_env, *others = super()._read_raw_config(key)
        if key == "parameters":
            for files in (base, of_env):
                _check_defined_once(files)
            for file, content in of_env.items():
                names = [name for name in (*_GROUPS, *RUN_VALUES) if name in content]
                base[file] = OmegaConf.masked_copy(content, names)
        return base, of_env, *others

    def _merge_configs(self, config: Any, env_config: Any, *of_files: str) -> Any:
        if not env_config:
            return config  # as it is: merged, every setting would be built anew
        return super()._merge_configs(config, env_config, *of_files)


def _validated_once(entry: Any) -> Any:
    if not isinstance(entry, dict) or not isinstance(entry.get("validator"), str):
        return entry
    return {**entry, "validator": {"class": entry["validator"], "skip_load_after_save": True}}


def _value(parameters: Any, name: str) -> Any:
    for key in name.split("."):
        parameters = (parameters or {}).get(key)
    return parameters


def _check_defined_once(files: Mapping[Path, DictConfig]) -> None:
    seen: dict[tuple[str, str], Path] = {}
    for (file, content), (group, kind) in product(sorted(files.items()), _GROUPS.items()):
        named = content.get(group)
        if isinstance(named, DictConfig):
            for name in named:
                other = seen.setdefault((group, str(name)), file)
                if other != file:
                    raise InputError(
                        f"{kind} {name!r} is defined in both {other} and {file}; keep one of them"
                    )


def load_conf(
    project: Path, env: str | None = None, params: Mapping[str, Any] | None = None
) -> OmegaConfigLoader:
    """Return a loader of one benchmark and variant; `load_conf(…)["catalog"]` is the catalog.

    `env` (default: the variable KEDRO_ENV) and `params` are those of `kedro run`.
    """
    arguments: dict[str, Any] = dict(CONFIG_LOADER_ARGS)
    # The package has no conf/local, which Kedro requires of its default environment.
    usual = None if (project / "conf" / "local").is_dir() else "base"
    return ConfLoader(
        conf_source=str(project / "conf"),
        env=env or os.environ.get("KEDRO_ENV") or usual,
        runtime_params=dict(params or {}),
        **arguments,
    )


def current_project() -> Path:
    """Return the project that holds the current folder, else that of the package or its clone."""
    package = Path(__file__).parents[1]
    packaged = package / "project"
    return enclosing_project() or (packaged if packaged.is_dir() else package.parents[1])


def conf_mistake(project: Path, error: BaseException) -> str | None:
    """Return a message for an error that a file in conf/ causes, or None.

    The message names an invalid YAML file and the position of the mistake. Other errors of
    OmegaConf are quoted.
    """
    for file in sorted((project / "conf").rglob("*.yml")):
        problem = _file_problem(file)
        if problem is not None:
            return f"{file}: {problem}"
    for cause in causes(error):
        if type(cause).__module__.partition(".")[0] in _OF_CONF:
            return f"conf: {in_short(cause)}"
    return None


def _file_problem(file: Path) -> str | None:
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    try:
        loaded = OmegaConf.to_container(OmegaConf.load(file), resolve=False)
    except UnicodeDecodeError as error:
        return f"not valid UTF-8 (byte 0x{error.object[error.start]:02x}); save the file as UTF-8"
    except (YAMLError, OmegaConfBaseException, OSError, ValueError, RecursionError) as error:
        return in_short(error)
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


def check_pipelines(names: Sequence[str], tags: Iterable[str] = ()) -> None:
    """Check that the bootstrapped project has these pipelines and can run them together.

    Raises:
        InputError: a pipeline is unknown, two of them have different nodes of one name, or none of
            their nodes has one of the tags.
    """
    from kedro.framework.project import pipelines

    for name in names:
        if name not in pipelines:
            known = expected(name, pipelines.keys() - {"__default__"})
            raise InputError(f"--pipeline {name!r}: {known}")
    nodes = {node for name in names or ["__default__"] for node in pipelines[name].nodes}
    times = Counter(node.name for node in nodes)
    differing = sorted(name for name, count in times.items() if count > 1)
    if differing:
        raise InputError(
            f"--pipelines {','.join(names)}: the nodes {', '.join(differing)} are different in "
            "these pipelines; run one pipeline after the other"
        )
    known_tags = set[str]().union(*(node.tags for node in nodes))
    for tag in tags:
        if tag not in known_tags:
            raise InputError(f"--tags {tag!r}: {expected(tag, known_tags)}")


RUNNERS = ("SequentialRunner", "ThreadRunner", "ParallelRunner")


def runner_class(name: str) -> Callable[..., Any]:
    """Return a runner of Kedro, or one given by its dotted path; InputError if there is none."""
    from kedro.utils import load_obj

    try:
        found = load_obj(name, "kedro.runner")
    except (AttributeError, ImportError, ValueError):
        found = None
    if not callable(found):
        raise InputError(f"--runner {name!r}: {expected(name, RUNNERS)}")
    return found


def pipeline_defaults(
    project: Path, env: str | None, pipelines: Collection[str], given: Collection[str] = ()
) -> dict[str, str]:
    """Return the benchmark and variant that globals.yml sets for pipelines, unless they are given.

    Each is in the result only if `default_benchmarks` or `default_variants` names it.

    Raises:
        InputError: the pipelines have different defaults.
    """
    conf = load_conf(project, env)["globals"]
    chosen: dict[str, str] = {}
    for kind in _GROUPS.values():
        defaults = conf.get(f"default_{kind}s") or {}
        of_all = conf[f"default_{kind}"]
        names = {str(defaults.get(pipeline, of_all)) for pipeline in pipelines}
        if kind in given or names <= {str(of_all)}:
            continue
        if len(names) > 1:
            raise InputError(
                f"--pipelines {','.join(pipelines)}: their default {kind}s differ "
                f"({', '.join(sorted(names))}); choose one with --params {kind}=…"
            )
        chosen[kind] = names.pop()
    return chosen
