"""The project's configuration as a run would read it, without starting one."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kedro.config import OmegaConfigLoader
from omegaconf import OmegaConf

from benchwright.errors import causes

_DEFAULTED = ("benchmark", "variant")
_GROUPS = ("_benchmarks", "_variants")
_OF_CONF = {"omegaconf", "yaml"}


def load_conf(
    project: Path, env: str | None = None, params: Mapping[str, Any] | None = None
) -> OmegaConfigLoader:
    """The configuration of one benchmark and variant: `load_conf(…)["catalog"]` and so on.

    Args:
        project: the project's folder.
        env: as `--env`; the variable KEDRO_ENV stands in for it as in Kedro.
        params: as `--params`, nested.
    """
    from benchwright.settings import CONFIG_LOADER_ARGS

    arguments: dict[str, Any] = dict(CONFIG_LOADER_ARGS)
    return OmegaConfigLoader(
        conf_source=str(project / "conf"),
        env=env or os.environ.get("KEDRO_ENV"),
        runtime_params=dict(params or {}),
        **arguments,
    )


def conf_mistake(project: Path, error: BaseException) -> str | None:
    """What is wrong with conf, where an error that is none of ours comes from it.

    A file that is no YAML, or no mapping of names, is told with the place in it; what OmegaConf
    says of a value elsewhere is told as it says it. None where conf is not the cause.
    """
    for file in sorted((project / "conf").rglob("*.yml")):
        if (said := _broken(file)) is not None:
            return f"{file}: {said}"
    for cause in causes(error):
        if type(cause).__module__.partition(".")[0] in _OF_CONF:
            return f"conf: {_short(cause)}"
    return None


def _broken(file: Path) -> str | None:
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    try:
        loaded = OmegaConf.to_container(OmegaConf.load(file), resolve=False)
    except UnicodeDecodeError as error:
        return f"is not UTF-8 (byte 0x{error.object[error.start]:02x}); save it as UTF-8"
    except (YAMLError, OmegaConfBaseException, OSError, ValueError, RecursionError) as error:
        return _short(error)
    if not isinstance(loaded, dict):
        return "is a list; a mapping of names is accepted"
    for group in _GROUPS:
        named = loaded.get(group, {})
        if not isinstance(named, dict):
            return f"{group} is {named!r:.60}; a mapping of names is accepted"
        for name, section in named.items():
            if not isinstance(section, dict):
                return f"{group}.{name} is {section!r:.60}; a mapping of names is accepted"
    return None


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]


def pipeline_defaults(project: Path, env: str | None, pipeline: str | None) -> dict[str, str]:
    """The benchmark and the variant of a pipeline that is run without them.

    Args:
        project: the project's folder.
        env: as `--env`.
        pipeline: its registered name; None is the default pipeline.

    Returns:
        `benchmark` and `variant`, each only where the pipeline has one of its own
        (`default_benchmarks` and `default_variants` in globals.yml).
    """
    conf = load_conf(project, env)["globals"]
    chosen = {kind: (conf.get(f"default_{kind}s") or {}).get(pipeline) for kind in _DEFAULTED}
    return {kind: str(name) for kind, name in chosen.items() if name is not None}
