"""Kedro's settings: hooks, and the configuration loader with its arguments."""

import os

from benchwright.hooks import CheckHook, MemoryHook, RunHook, VersionsHook
from benchwright.runs.project_conf import CONFIG_LOADER_ARGS, ConfLoader


def _set_environment() -> None:
    """Set environment variables that libraries read at import, unless the user has set them."""
    # Waiting PyTorch threads would otherwise occupy their core: scoring becomes many times slower
    # on a busy machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # Forking a process that has used PyTorch's threads would make ParallelRunner hang.
    os.environ.setdefault("KEDRO_MP_CONTEXT", "spawn")
    # The plugin sends events of commands too, and its hooks are off only in runs.
    os.environ.setdefault("KEDRO_DISABLE_TELEMETRY", "1")
    # A run shows its own progress.
    os.environ.setdefault("TQDM_DISABLE", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")


_set_environment()

HOOKS = (CheckHook(), VersionsHook(), MemoryHook(), RunHook())
DISABLE_HOOKS_FOR_PLUGINS = ("kedro-telemetry", "kedro_mlflow")  # a run is recorded once

CONFIG_LOADER_CLASS = ConfLoader

__all__ = ["CONFIG_LOADER_ARGS", "CONFIG_LOADER_CLASS", "DISABLE_HOOKS_FOR_PLUGINS", "HOOKS"]
