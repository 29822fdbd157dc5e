"""Kedro's settings: hooks, resolvers and the configuration patterns."""

import os
import warnings

from benchwright.hooks import OwnVersionsHook, RunHook, SealKeyHook, StrictParametersHook
from benchwright.project_conf import CONFIG_LOADER_ARGS, ConfLoader


def _set_environment() -> None:
    """Set environment variables that libraries read at import; a user's own values stay."""
    # Otherwise waiting PyTorch threads keep their core, and scoring is many times slower on a busy
    # machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # A process that has used PyTorch's threads must not be forked: ParallelRunner would hang.
    os.environ.setdefault("KEDRO_MP_CONTEXT", "spawn")
    # Kedro calls a deprecated function of OmegaConf.
    warnings.filterwarnings("ignore", message=r"\s*register_new_resolver")


_set_environment()

HOOKS = (StrictParametersHook(), SealKeyHook(), OwnVersionsHook(), RunHook())
DISABLE_HOOKS_FOR_PLUGINS = ("kedro-telemetry",)

CONFIG_LOADER_CLASS = ConfLoader

__all__ = ["CONFIG_LOADER_ARGS", "CONFIG_LOADER_CLASS", "DISABLE_HOOKS_FOR_PLUGINS", "HOOKS"]
