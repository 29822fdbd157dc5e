"""Every field of every model of settings is read by the code."""

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from benchwright import params


def models() -> Iterator[type[BaseModel]]:
    for module in pkgutil.iter_modules(params.__path__, f"{params.__name__}."):
        for _, found in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(found, BaseModel) and found.__module__ == module.name:
                yield found


@pytest.fixture(scope="module")
def names_in_code(repository: Path) -> set[str]:
    """Return the attributes that are read, strings, and what conf interpolates."""
    conf = "".join(file.read_text() for file in sorted((repository / "conf").rglob("*.yml")))
    names = {name for part in re.findall(r":.*\$\{.*", conf) for name in re.findall(r"\w+", part)}
    for file in sorted((repository / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                names.add(node.attr)
            elif isinstance(node, ast.Constant) and "params" not in file.parts:
                names.add(str(node.value))
    return names


@pytest.mark.parametrize("model", list(models()), ids=lambda model: model.__name__)
def test_every_field_is_read(model: type[BaseModel], names_in_code: set[str]) -> None:
    assert set(model.model_fields) <= names_in_code
