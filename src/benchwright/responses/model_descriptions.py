"""What is known of each model: from conf, or else from its name."""

import math
import re
from typing import NamedTuple

import pandas as pd

from benchwright.core.configuration import parse_configuration
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.params.scoring import ModelsParams
from benchwright.responses.model_families import family_of, overridden_family
from benchwright.tables.responses import Models

_EXPERTS = re.compile(r"(?<![0-9.])([0-9]{1,2})x([0-9]+(?:[.][0-9]+)?)b(?![a-z0-9])")
_SIZE = re.compile(r"(?<![0-9.])([0-9]+(?:[.][0-9]+)?)(b|m)(?![a-z0-9])")
_INSTRUCT = re.compile(r"chat|instruct|(?<![a-z0-9])it(?![a-z0-9])")


class Described(NamedTuple):
    """What a model's name tells."""

    family: str
    organisation: str | None
    size_b: float
    instruct: bool


def describe_name(model: str) -> Described:
    """Family, organisation, size and kind of a model, as far as its name tells.

    The family is the base model that the name contains (`dolphin-2.6-mistral-7b` is mistral-7b),
    the organisation what stands before `/`, the size in billions of parameters (experts
    multiplied: 8x7B is 56; NaN where there is none), and instruct whether the name says chat,
    instruct or it. A model that is not recognised is its own family.
    """
    plain = _without_source(model)
    organisation = plain.split("/", 1)[0] if "/" in plain else None
    spelt = plain.rsplit("/", 1)[-1]
    name = spelt.casefold()
    family = family_of(spelt) or model
    return Described(family, organisation, _size(name), bool(_INSTRUCT.search(name)))


def _without_source(model: str) -> str:
    """Sources prefix names: helm:org/name is org/name."""
    return model.split(":", 1)[-1] if "/" in model else model


def _size(name: str) -> float:
    experts = _EXPERTS.search(name)
    if experts:
        return int(experts[1]) * float(experts[2])
    sizes = [float(n) / (1000 if unit == "m" else 1) for n, unit in _SIZE.findall(name)]
    return sizes[0] if sizes else math.nan


def describe_models(response_matrix: ResponseMatrix, models: ModelsParams) -> pd.DataFrame:
    """Say of each model that answered its family, organisation, size and kind.

    What conf lists is taken as it stands; a model that it does not list is described by its name,
    but for the family that `families` gives it. Models of one family are kin: those that chose the
    items cannot judge the result.

    Args:
        response_matrix: its configurations are reduced to their models.
        models: the models that conf lists, and `families`: family by name or pattern (`*`), with
            or without organisation, for names that do not tell their base model or tell a wrong
            one.

    Returns:
        A `Models` table, a row per model (not per configuration), sorted by name.
    """
    names = sorted({parse_configuration(name).model for name in response_matrix.models})
    return Models.from_rows([_describe(name, models) for name in names])


def _describe(
    name: str, models: ModelsParams
) -> tuple[str, str, str | None, float, bool, str | None]:
    told = describe_name(name)
    listed = models.models.get(name)
    if listed is None:
        plain = _without_source(name)
        spellings = (name, plain, plain.rsplit("/", 1)[-1])
        family = overridden_family(spellings, models.families) or told.family
        return name, family, told.organisation, told.size_b, told.instruct, None
    size = told.size_b if listed.size_b is None else listed.size_b
    organisation = listed.organisation or told.organisation
    return name, listed.family, organisation, size, listed.instruct, listed.date
