"""Kedro's settings: hooks, and the configuration loader with its arguments."""

import os

from benchwright.hooks.checks import InputsHook, ModelNamesHook, ParametersHook, SealingHook
from benchwright.hooks.memory import MemoryHook
from benchwright.hooks.records import RecordHook
from benchwright.hooks.results import NextStepHook, ProgressHook, ResultsHook
from benchwright.hooks.tracking import TrackingHook
from benchwright.hooks.versions import LeftoversHook, VersionsHook
from benchwright.runs.project_conf import CONFIG_LOADER_ARGS, ConfLoader

_READ_AT_IMPORT = {
    # Waiting PyTorch threads would otherwise occupy their core: scoring becomes many times slower
    # on a busy machine.
    "OMP_WAIT_POLICY": "PASSIVE",
    # Forking a process that has used PyTorch's threads would make ParallelRunner hang.
    "KEDRO_MP_CONTEXT": "spawn",
    # The plugin sends events of commands too, and its hooks are off only in runs.
    "KEDRO_DISABLE_TELEMETRY": "1",
    # A run shows its own progress.
    "TQDM_DISABLE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
}
for _name, _value in _READ_AT_IMPORT.items():
    os.environ.setdefault(_name, _value)

_IN_ORDER = (
    ParametersHook(),
    ModelNamesHook(),
    SealingHook(),
    InputsHook(),
    VersionsHook(),
    RecordHook(),
    LeftoversHook(),
    MemoryHook(),
    ResultsHook(),
    TrackingHook(),
    ProgressHook(),
    NextStepHook(),
)
HOOKS = _IN_ORDER[::-1]  # Kedro calls the last one first
DISABLE_HOOKS_FOR_PLUGINS = ("kedro-telemetry", "kedro_mlflow")  # a run is recorded once

CONFIG_LOADER_CLASS = ConfLoader

__all__ = ["CONFIG_LOADER_ARGS", "CONFIG_LOADER_CLASS", "DISABLE_HOOKS_FOR_PLUGINS", "HOOKS"]
