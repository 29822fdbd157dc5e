"""Modules that are imported on their first use, not by every worker that only lists the tests."""

from importlib import import_module
from typing import Any


class ImportedLater:
    """Stands for a module, such as `torch`, which takes seconds to import."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what pytest looks for in every name of a module of tests
            raise AttributeError(name)
        return getattr(import_module(self._name), name)


torch: Any = ImportedLater("torch")
hf_generation: Any = ImportedLater("benchwright.language_models.hf_generation")
hf_transformers: Any = ImportedLater("benchwright.language_models.hf_transformers")
packed_layers: Any = ImportedLater("benchwright.language_models.packed_layers")
shared_prefix: Any = ImportedLater("benchwright.language_models.shared_prefix")
