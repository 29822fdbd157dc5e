"""Describe models by configuration or by name."""

import math
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import pandas as pd

from benchwright.core.configuration import parse_configuration
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.params.scoring import ModelsParams
from benchwright.tables.responses import Models

_STARTS = {"^": "(?:^|(?<=:))", "=": "(?<![A-Za-z])"}
_WORD_OR_CAPITAL = "(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))"

_EXPERTS = re.compile(r"(?<![0-9.])([0-9]{1,2})x([0-9]+(?:[.][0-9]+)?)b(?![a-z0-9])")
_SIZE = re.compile(r"(?<![0-9.])([0-9]+(?:[.][0-9]+)?)(b|m)(?![a-z0-9])")
_INSTRUCT = re.compile(r"chat|instruct|(?<![a-z0-9])it(?![a-z0-9])")


def _pattern(spelling: str) -> re.Pattern[str]:
    start = _STARTS.get(spelling[0], _WORD_OR_CAPITAL)
    spelling = spelling.lstrip("^=")
    # llama-3 is not llama-3.1 or -30b, but llama-3-8b and llama-2.7b (a size) are versions.
    end = r"(?![0-9a-z]|[._][0-9](?![0-9]*[bmx]))" if spelling[-1].isdigit() else ""
    return re.compile(f"{start}(?i:{spelling.replace('~', '[-_ ]?')}{end})")


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    table = files("benchwright.answers").joinpath("model_families.txt").read_text("utf-8")
    lines = (line.split() for line in table.splitlines() if line and not line.startswith("#"))
    return tuple((_pattern(spelling), family) for family, *rest in lines for spelling in rest)


def family_of(name: str) -> str | None:
    """Return the base model in a name (mistral-7b in `dolphin-2.6-mistral-7b`), or None.

    `name` has no organisation; its capitals separate words.
    """
    return next((family for pattern, family in _patterns() if pattern.search(name)), None)


def overridden_family(names: Sequence[str], families: Mapping[str, str]) -> str | None:
    """Return the family that the configuration sets for a model, or None.

    Args:
        names: spellings of one model, the longest first (with and without source, organisation).
        families: family by name or pattern (`*`, `?`, `[…]`), ignoring case; exact names take
            precedence, then longer patterns.
    """
    folded = {key.casefold(): family for key, family in families.items()}
    spelt = [name.casefold() for name in names]
    patterns = sorted(folded, key=lambda key: (-len(key), key))
    matching = (key for key in patterns if any(fnmatchcase(name, key) for name in spelt))
    key = next((name for name in spelt if name in folded), None) or next(matching, None)
    return None if key is None else folded[key]


_BEFORE_SIZE = re.compile(r".+?(?=[-_ ]\d+(?:\.\d+)?[bm]\b)|.*", re.IGNORECASE | re.DOTALL)


class Described(NamedTuple):
    """The description of a model from its name."""

    family: str
    organisation: str | None
    size_b: float
    instruct: bool


def describe_name(model: str) -> Described:
    """Derive family, organisation, size and kind of a model from its name.

    The family is the base model in the name, else the organisation, else the name up to its size.
    The organisation is the part before `/`. The size is in billions of parameters (8x7B is 56), NaN
    if the name has none. A model is instruction-tuned if its name contains chat, instruct or it.
    """
    plain = _without_source(model)
    organisation = plain.split("/", 1)[0] if "/" in plain else None
    spelt = plain.rsplit("/", 1)[-1]
    name = spelt.casefold()
    line = _BEFORE_SIZE.match(model)
    family = family_of(spelt) or organisation or (line[0] if line else model)
    return Described(family, organisation, _size(name), bool(_INSTRUCT.search(name)))


def _without_source(model: str) -> str:
    return model.split(":", 1)[-1] if "/" in model else model  # helm:org/name is org/name


def _size(name: str) -> float:
    if experts := _EXPERTS.search(name):
        return int(experts[1]) * float(experts[2])
    sizes = [float(n) / (1000 if unit == "m" else 1) for n, unit in _SIZE.findall(name)]
    return sizes[0] if sizes else math.nan


def describe_models(response_matrix: ResponseMatrix, models: ModelsParams) -> pd.DataFrame:
    """Describe family, organisation, size and kind of each model with responses.

    Relatives of the models that chose the items cannot evaluate the result. Models that conf does
    not describe are described by their names, except for `families`: family by name or pattern
    (`*`), with or without organisation. Return a `Models` table, a row per model, sorted by name.
    """
    names = sorted({parse_configuration(name).model for name in response_matrix.models})
    return Models.from_rows([_describe(name, models) for name in names])


def _describe(
    name: str, models: ModelsParams
) -> tuple[str, str, str | None, float, bool, str | None]:
    derived, listed = describe_name(name), models.models.get(name)
    if listed is None:
        plain = _without_source(name)
        spellings = (name, plain, plain.rsplit("/", 1)[-1])
        family = overridden_family(spellings, models.families) or derived.family
        return name, family, *derived[1:], None
    size = derived.size_b if listed.size_b is None else listed.size_b
    organisation = listed.organisation or derived.organisation
    return name, listed.family, organisation, size, listed.instruct, listed.date
