"""The project's configuration as a run would read it, without starting one."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kedro.config import OmegaConfigLoader


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


def default_variant(project: Path, env: str | None, pipeline: str | None) -> str | None:
    """The variant of a pipeline that is run without one; None where it is that of all pipelines.

    Args:
        project: the project's folder.
        env: as `--env`.
        pipeline: its registered name; None is the default pipeline.
    """
    chosen = load_conf(project, env)["globals"].get("default_variants") or {}
    variant = chosen.get(pipeline)
    return None if variant is None else str(variant)
