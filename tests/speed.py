"""What libraries do again and again for nothing, done once, and keys that are quick to derive."""

import gc
import inspect
import io
import pickle
from functools import partial
from types import SimpleNamespace
from typing import Any

from dynaconf.loaders import py_loader
from dynaconf.utils import files
from omegaconf import OmegaConf
from pandera.backends.pandas import array

from benchwright.methods.mmlu_cf.sealing import key


def speed_up() -> None:
    """For this process, and those forked from it."""
    _read_conf_once()
    _list_no_failures_where_none_are()
    _read_no_code_of_the_stack()
    key.SCRYPT_N = 1 << 4  # what the header says of it stays
    gc.set_threshold(50_000, 20)


def _read_conf_once() -> None:
    """Replace `OmegaConf.load` by one that remembers; every call gives an object of its own."""
    parse, known = OmegaConf.load, dict[str, bytes]()

    def load(file: Any) -> Any:
        if not isinstance(file, io.StringIO):  # Kedro hands over texts
            return parse(file)
        text = file.getvalue()
        if text not in known:
            known[text] = pickle.dumps(parse(file))
        return pickle.loads(known[text])  # noqa: S301

    OmegaConf.load = load  # type: ignore[method-assign,assignment]


def _list_no_failures_where_none_are() -> None:
    """Pandera prints the values of a column that have a wrong type also where there are none."""
    listed = array.reshape_failure_cases

    def only_failures(cases: Any, ignore_na: bool = True) -> Any:
        return listed(cases, ignore_na) if len(cases) else ""

    array.reshape_failure_cases = only_failures  # type: ignore[assignment]


def _read_no_code_of_the_stack() -> None:
    """Dynaconf asks for names of files on the stack only, each time a project is entered."""
    for module in (files, py_loader):
        module.inspect = SimpleNamespace(stack=partial(inspect.stack, 0))
