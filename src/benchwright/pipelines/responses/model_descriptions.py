"""What is known of each model: from conf, or else from its name."""

import math
import re
from typing import NamedTuple

import pandas as pd

from benchwright.configuration import parse_configuration
from benchwright.params.scoring import ModelsParams
from benchwright.response_matrix import ResponseMatrix
from benchwright.tables import Models

# Families by what a name contains; fine-tunes carry their base's name. The first that fits counts:
# longer versions before shorter ones, and words that also name training data last.
# `~` stands for a separator or none.
_FAMILIES: tuple[tuple[str, str], ...] = (
    ("tinyllama", "tinyllama"),
    ("open~llama", "openllama"),
    ("llama~4", "llama-4"),
    ("llama~3[._]3", "llama-3.3"),
    ("llama~3[._]2", "llama-3.2"),
    ("llama~3[._]1", "llama-3.1"),
    ("llama~3", "llama-3"),
    ("code~llama", "codellama"),
    ("llama~2", "llama-2"),
    ("smollm~3", "smollm3"),
    ("smollm~2", "smollm2"),
    ("smollm", "smollm"),
    ("mixtral~8x22b", "mixtral-8x22b"),
    ("mixtral", "mixtral-8x7b"),
    ("mistral~large", "mistral-large"),
    ("mistral~small", "mistral-small"),
    ("mistral~nemo", "mistral-nemo"),
    ("mistral", "mistral-7b"),
    ("zephyr~7b", "mistral-7b"),
    ("solar", "solar"),
    ("qwen~3", "qwen3"),
    ("qwen~2[._]5", "qwen2.5"),
    ("qwen~2", "qwen2"),
    ("qwen~1[._]5", "qwen1.5"),
    ("qwen", "qwen"),
    ("gemma~3", "gemma-3"),
    ("gemma~3n", "gemma-3"),
    ("gemma~2", "gemma-2"),
    ("gemma", "gemma"),
    ("phi~4", "phi-4"),
    ("phi~3[._]5", "phi-3.5"),
    ("phi~3", "phi-3"),
    ("phi~2", "phi-2"),
    ("phi~1[._]5", "phi-1.5"),
    ("falcon~3", "falcon-3"),
    ("falcon~2", "falcon-2"),
    ("falcon", "falcon"),
    ("olmo~2", "olmo-2"),
    ("olmo", "olmo"),
    ("internlm~3", "internlm3"),
    ("internlm~2[._]5", "internlm2.5"),
    ("internlm~2", "internlm2"),
    ("internlm", "internlm"),
    ("deepseek", "deepseek"),
    ("dbrx", "dbrx"),
    ("pythia", "pythia"),
    ("gpt~neox", "gpt-neox"),
    ("gpt~neo", "gpt-neo"),
    ("gpt~j", "gpt-j"),
    ("gpt~2", "gpt2"),
    ("(?:(?<=:)|^)gpt-4o", "gpt-4o"),
    ("(?:(?<=:)|^)gpt-4", "gpt-4"),
    ("claude-3", "claude-3"),
    ("gemini-1[.]5", "gemini-1.5"),
    ("opt~[0-9.]+[bm]", "opt"),
    ("bloomz?", "bloom"),
    ("mpt~[0-9]+b", "mpt"),
    ("stable~lm~2", "stablelm-2"),
    ("stable~lm", "stablelm"),
    ("redpajama", "redpajama"),
    ("baichuan~2", "baichuan-2"),
    ("baichuan", "baichuan"),
    ("decilm", "decilm"),
    ("command~r", "command-r"),
    ("yi~1[._]5", "yi-1.5"),
    ("yi~[0-9]+b", "yi"),
    ("llama", "llama"),
    ("vicuna", "llama"),
    ("alpaca", "llama"),
)


def _pattern(spelling: str) -> re.Pattern[str]:
    # A number at the end is a version only if nothing goes on: llama-3 is not llama-3.1 or -30b.
    end = r"(?![0-9a-z]|[._][0-9](?![0-9]*[bm]))" if spelling[-1].isdigit() else ""
    return re.compile("(?<![a-z])" + spelling.replace("~", "[-_ ]?") + end)


_PATTERNS = tuple((_pattern(spelling), family) for spelling, family in _FAMILIES)
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
    plain = (
        model.split(":", 1)[-1] if "/" in model else model
    )  # sources prefix names: helm:org/name
    organisation = plain.split("/", 1)[0] if "/" in plain else None
    name = plain.rsplit("/", 1)[-1].casefold()
    family = next((f for pattern, f in _PATTERNS if pattern.search(name)), model)
    return Described(family, organisation, _size(name), bool(_INSTRUCT.search(name)))


def _size(name: str) -> float:
    experts = _EXPERTS.search(name)
    if experts:
        return int(experts[1]) * float(experts[2])
    sizes = [float(n) / (1000 if unit == "m" else 1) for n, unit in _SIZE.findall(name)]
    return sizes[0] if sizes else math.nan


def describe_models(response_matrix: ResponseMatrix, models: ModelsParams) -> pd.DataFrame:
    """Say of each model that answered its family, organisation, size and kind.

    What conf lists is taken as it stands; a model that it does not list is described by its name.
    Models of one family are kin: those that chose the items cannot judge the result.

    Args:
        response_matrix: its configurations are reduced to their models.
        models: the models that conf lists.

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
        return name, told.family, told.organisation, told.size_b, told.instruct, None
    size = told.size_b if listed.size_b is None else listed.size_b
    organisation = listed.organisation or told.organisation
    return name, listed.family, organisation, size, listed.instruct, listed.date
