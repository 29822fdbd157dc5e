"""Kedro's settings: hooks, resolvers and the configuration patterns."""

import os
import warnings

from benchwright.hooks import OwnVersionsHook, RunHook, SealKeyHook, StrictParametersHook
from benchwright.project_conf import CONFIG_LOADER_ARGS, ConfLoader


def _set_environment() -> None:
    """Set what libraries read from the process before they start; a user's own values stay."""
    # Read when PyTorch starts its threads. Without it, threads that wait hold on to their core, and
    # on a busy machine scoring is many times slower.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # A process that has used PyTorch's threads must not be forked: the workers of ParallelRunner
    # would wait for ever.
    os.environ.setdefault("KEDRO_MP_CONTEXT", "spawn")
    # Kedro calls a function of OmegaConf that is going to be renamed; nothing a user can mend.
    warnings.filterwarnings("ignore", message=r"\s*register_new_resolver")


_set_environment()

HOOKS = (StrictParametersHook(), SealKeyHook(), OwnVersionsHook(), RunHook())
DISABLE_HOOKS_FOR_PLUGINS = ("kedro-telemetry",)

CONFIG_LOADER_CLASS = ConfLoader

__all__ = ["CONFIG_LOADER_ARGS", "CONFIG_LOADER_CLASS", "DISABLE_HOOKS_FOR_PLUGINS", "HOOKS"]
