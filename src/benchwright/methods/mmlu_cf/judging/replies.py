"""Read judges' replies strictly: JSON, or lines "name: value"; anything else is unreadable."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import TypeVar

LONGEST = 8_000
"""Characters of a reply; a longer one is not read."""

YES_OR_NO = {"yes": True, "true": True, "no": False, "false": False}

Value = TypeVar("Value")
_OBJECT = re.compile(r"\{[^{}]*\}")
# "rating: 4", "- **Clarity** = yes"; not "I would say 4".
_LINE = re.compile(r"^[^\w\n]*([A-Za-z][\w -]{0,40}?)[^\w\n]{0,4}[:=]([^\n]{1,60})$", re.MULTILINE)
_MARKS = " \t\n.,;*_`\"'“”[]()<>|"


def read_reply(
    reply: str | None,
    values: Mapping[str, Mapping[str, Value]],
    options: Collection[str] = (),
) -> dict[str, Value] | None:
    """Read one of the allowed values for every name, or return None.

    `values` has the value of each accepted spelling, in lower case, by name. They are read from a
    JSON object, else from lines; a reply to a single name may also be the value alone, unless it is
    one of the question's `options`, since it may then answer the question. None if a name is
    missing, has two values, or one that is not allowed. Case, "_" and "-" do not matter.
    """
    if reply is None or len(reply) > LONGEST:
        return None
    by_spelling = {_plain(name): name for name in values}
    found: dict[str, Value] = {}
    for spelling, given in list(_in_json(reply, by_spelling)) or _LINE.findall(reply):
        name = by_spelling.get(_plain(spelling))
        if name is None:
            continue
        value = values[name].get(_plain(given))
        if value is None or found.setdefault(name, value) != value:
            return None
    if not found and len(values) == 1 and reply.strip(_MARKS) not in options:
        (name, allowed), *_ = values.items()
        alone = allowed.get(_plain(reply))
        return None if alone is None else {name: alone}
    return found if len(found) == len(values) else None


def _in_json(reply: str, names: Collection[str]) -> Iterator[tuple[str, str]]:
    for text in _OBJECT.findall(reply):
        try:
            members = json.loads(text)
        except ValueError:
            continue
        for name, value in members.items():
            if _plain(name) in names:
                yield name, str(value)


def _plain(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text.strip(_MARKS)).casefold()
