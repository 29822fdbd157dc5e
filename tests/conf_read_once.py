"""Each text of the configuration is parsed once in a process, however many runs it starts."""

import io
import pickle
from typing import Any

from omegaconf import OmegaConf


def read_conf_once() -> None:
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
