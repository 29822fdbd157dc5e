"""The project's configuration as a run would read it, without starting one."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kedro.config import OmegaConfigLoader

_DEFAULTED = ("benchmark", "variant")


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
