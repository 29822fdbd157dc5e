"""Describe models by conf, or by their names, which contain the name of their base model."""

import math
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

import pandas as pd

from benchwright.core.configuration import parse_configuration
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.params.scoring import ModelsParams
from benchwright.tables.responses import Models

# A family per line, followed by patterns of its models' names. The first match counts: longer
# versions come before shorter ones, and words that also name training data last. `~` is an optional
# separator. A match starts at a word or a capital letter (TruthfulQwen1.5); a number at its end
# must be complete. Some merges of Mistral-7B are called Mixtral too.
_BASES = r"""
tinyllama tiny~llama(?!~[23]-)
openllama open~llama
llama-2 miqu
llama-4 llama~4
llama-3.3 llama~3[._]3
llama-3.2 llama~3[._]2
llama-3.1 llama~3[._]1
llama-3 llama~3
codellama code~llama
llama-2 llama~2
smollm3 smol~lm~3
smollm2 smol~lm~2
smollm smol~lm
tinymistral tiny~mi[sx]tral
mixtral-8x22b mixtral~8x22b
mistral-7b mixtral(?=.*(?:[2-5]x7b|7bx[2-7]))
mixtral-8x7b mixtral
mistral-large mistral~large
mistral-small mistral~small
mistral-nemo mistral~nemo
danube3 danube~3
danube2 danube~2
danube danube
gemma zephyr~7b~gemma
mistral-7b mistral zephyr~(?:7b|alpha|beta)
solar solar
qwen3 qwen~3
qwen2.5 qwen~2[._]5
qwen2 qwen~2
qwen1.5 qwen~1[._]5
qwen qwen
recurrentgemma recurrent~gemma
gemma code~gemma
gemma-3 gemma~3 gemma~3n
gemma-2 gemma~2
gemma gemma
phi-4 phi~4
phi-3.5 phi~3[._]5
phi-3 phi~3
phi-2 phi~2
phi-1.5 phi~1[._]5
falcon-3 falcon~3
falcon-2 falcon~2
falcon falcon
olmo-2 olmo~2
olmo olmo
internlm3 intern~lm~3
internlm2.5 intern~lm~2[._]5
internlm2 intern~lm~2
internlm intern~lm
deepseek deepseek
dbrx dbrx
pythia pythia
gpt-neox gpt~neox
gpt-neo gpt~neo
gpt-j gpt~j
gpt2 (?:distil)?gpt~2
gpt-4o (?:(?<=:)|^)gpt-4o
gpt-4 (?:(?<=:)|^)gpt-4
claude-3 claude-3
gemini-1.5 gemini-1[.]5
opt opt~(?:flan-|iml-|max-){0,3}[0-9._]+[bm]
bloom bloomz?
mpt mpt~[0-9]+b
mistral-7b japanese~stable~lm~(?:base|instruct)~gamma
stablelm-2 stable~lm~2
stablelm stable~lm
redpajama redpajama
baichuan-2 baichuan~2
baichuan baichuan
decilm decilm
command-r command~r
yi-1.5 yi~1[._]5
yi (?<!ya)yi~(?:ko~)?[0-9]+b
cerebras-gpt cerebras
rwkv rwkv
galactica galactica
xglm xglm
starcoder2 star~coder~2
starcoder star~coder
codegen codegen
"""

# Fine-tunes with a documented base that is not in the name; L2 and L3 next to a size are the usual
# short forms of Llama 2 and 3.
_FINE_TUNES = r"""
llama-3.3 l3[._]3(?=.*(?:8|70)b)
llama-3.1 l3[._]1(?=.*(?:8|70)b)
llama-3 l3(?![0-9.])(?=.*(?:8|70)b) (?:8|70)b~l3(?![0-9.])
llama-2 l2(?![0-9.])(?=.*[0-9]b) (?:7|13|70)b[-_](?:.*[-_])?l2(?![0-9.]) platypus~2 orca~mini~v3
llama-2 pygmalion~2~(?:7|13)b xwin~lm~ wizard~lm~70b wizard~lm~13b~v1[._-]2
mixtral-8x22b wizard~lm~2~8x22b
mistral-7b wizard~lm~2~7b
llama wizard~lm~(?:7|13|30)b
mistral-7b airoboros~m~7b
codellama airoboros~c34b
llama airoboros~(?:7|13|33|65)b
llama-3 openchat~3[._]6
mistral-7b openchat~3[._]5 open~hermes~2[._]5(?!.*13b) starling~lm neural~chat~(?:7b~)?v3
mistral-7b una~cybertron~7b west~?lake~7b kunoichi~(?:dpo~)?(?:v2~)?7b neural~beagle
mistral-7b (?:alpha|neural)~monarch strange~merges kangalkhan neural~trix experiment~[0-9]+~7b
openllama orca~mini~(?:3|7|13)b
pythia dolly~v2
gpt-j pygmalion~6b
yi sus~chat~34b nous~capybara~34b tess~34b
qwen momo~72b
qwen1.5 sailor~[0-9.]+b
"""

# Words that name a base only if nothing else does, and only as whole words (not MobiLlama).
_LAST = r"""
llama llama(?!fi) vicuna alpaca
"""

_WORD = "(?<![A-Za-z])"
_WORD_OR_CAPITAL = "(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))"

_EXPERTS = re.compile(r"(?<![0-9.])([0-9]{1,2})x([0-9]+(?:[.][0-9]+)?)b(?![a-z0-9])")
_SIZE = re.compile(r"(?<![0-9.])([0-9]+(?:[.][0-9]+)?)(b|m)(?![a-z0-9])")
_INSTRUCT = re.compile(r"chat|instruct|(?<![a-z0-9])it(?![a-z0-9])")


def _pattern(spelling: str, start: str) -> re.Pattern[str]:
    # llama-3 is not llama-3.1 or -30b, but llama-3-8b and llama-2.7b (a size) are versions.
    end = r"(?![0-9a-z]|[._][0-9](?![0-9]*[bmx]))" if spelling[-1].isdigit() else ""
    return re.compile(f"{start}(?i:{spelling.replace('~', '[-_ ]?')}{end})")


_PATTERNS = tuple(
    (_pattern(spelling, start), family)
    for table, start in (
        (_BASES, _WORD_OR_CAPITAL),
        (_FINE_TUNES, _WORD_OR_CAPITAL),
        (_LAST, _WORD),
    )
    for family, *spellings in map(str.split, table.strip().splitlines())
    for spelling in spellings
)


def family_of(name: str) -> str | None:
    """Return the base model that a name contains (`dolphin-2.6-mistral-7b` is mistral-7b), or None.

    `name` has no organisation and keeps its makers' capitals, which separate words.
    """
    return next((family for pattern, family in _PATTERNS if pattern.search(name)), None)


def overridden_family(names: Sequence[str], families: Mapping[str, str]) -> str | None:
    """Return the family that conf gives a model, or None.

    Args:
        names: spellings of one model, the fullest first (with and without source, organisation).
        families: family by name or file name pattern (`*`, `?`, `[…]`), ignoring case; exact names
            come first, then the longest patterns.
    """
    folded = {key.casefold(): family for key, family in families.items()}
    spelt = [name.casefold() for name in names]
    for name in spelt:
        if name in folded:
            return folded[name]
    for key in sorted(folded, key=lambda key: (-len(key), key)):
        if any(fnmatchcase(name, key) for name in spelt):
            return folded[key]
    return None


class Described(NamedTuple):
    """What a model's name says about the model."""

    family: str
    organisation: str | None
    size_b: float
    instruct: bool


def describe_name(model: str) -> Described:
    """Derive family, organisation, size and kind of a model from its name.

    The family is the base model that the name contains (the name itself if there is none), the
    organisation what precedes `/`, the size in billions of parameters (experts multiplied: 8x7B is
    56; NaN if there is none), and instruct whether the name says chat, instruct or it.
    """
    plain = _without_source(model)
    organisation = plain.split("/", 1)[0] if "/" in plain else None
    spelt = plain.rsplit("/", 1)[-1]
    name = spelt.casefold()
    family = family_of(spelt) or model
    return Described(family, organisation, _size(name), bool(_INSTRUCT.search(name)))


def _without_source(model: str) -> str:
    return model.split(":", 1)[-1] if "/" in model else model  # helm:org/name is org/name


def _size(name: str) -> float:
    experts = _EXPERTS.search(name)
    if experts:
        return int(experts[1]) * float(experts[2])
    sizes = [float(n) / (1000 if unit == "m" else 1) for n, unit in _SIZE.findall(name)]
    return sizes[0] if sizes else math.nan


def describe_models(response_matrix: ResponseMatrix, models: ModelsParams) -> pd.DataFrame:
    """Describe the family, organisation, size and kind of each model that answered.

    Models listed in conf are described by conf, others by their names, except for the family that
    `families` gives them. Models of one family are related: those that chose the items cannot judge
    the result.

    Args:
        response_matrix: its configurations are reduced to their models.
        models: listed models, and `families`: family by name or pattern (`*`), with or without
            organisation.

    Returns:
        A `Models` table, a row per model (not per configuration), sorted by name.
    """
    names = sorted({parse_configuration(name).model for name in response_matrix.models})
    return Models.from_rows([_describe(name, models) for name in names])


def _describe(
    name: str, models: ModelsParams
) -> tuple[str, str, str | None, float, bool, str | None]:
    derived = describe_name(name)
    listed = models.models.get(name)
    if listed is None:
        plain = _without_source(name)
        spellings = (name, plain, plain.rsplit("/", 1)[-1])
        family = overridden_family(spellings, models.families) or derived.family
        return name, family, derived.organisation, derived.size_b, derived.instruct, None
    size = derived.size_b if listed.size_b is None else listed.size_b
    organisation = listed.organisation or derived.organisation
    return name, listed.family, organisation, size, listed.instruct, listed.date
