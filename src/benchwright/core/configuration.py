"""A configuration is a model asked in one way; its name is `<model>@<style>-<shots>`."""

import re
from typing import NamedTuple

STYLES = ("letters", "cloze", "cloze_bytes", "cloze_tokens", "generate")
"""Ways to ask: letters of the options, the options' texts by their log-likelihood (`cloze`: the
sum; `cloze_bytes`, `cloze_tokens`: the sum divided by bytes or tokens), or an answer in the
model's own words that ends in the option's letter or the final answer (`generate`)."""

SCORED_AS = {"cloze_bytes": "cloze", "cloze_tokens": "cloze"}
"""Styles that are another style's scores divided by something."""

# The style must be a known one: real model names hold "@" too (`google/text-unicorn@001`).
_ASKED = re.compile(rf"(?P<model>.+)@(?P<style>{'|'.join(STYLES)})-(?P<shots>\d+)", re.DOTALL)


class Configuration(NamedTuple):
    """A model, the style it was asked in ("" unknown) and the demonstrations shown (−1 unknown)."""

    model: str
    style: str
    shots: int


def configuration_name(model: str, style: str = "", shots: int = -1) -> str:
    """The name of a configuration; the plain model name where style or shots are unknown.

    Raises:
        ValueError: `style` is neither "" nor one of `STYLES`.
    """
    if style and style not in STYLES:
        raise ValueError(f"style is {style!r}; known are {', '.join(STYLES)}")
    if not style or shots < 0:
        return model
    return f"{model}@{style}-{shots}"


def parse_configuration(name: str) -> Configuration:
    """The model, style and shots of a name; a plain model name gives style "" and shots −1."""
    seen = _ASKED.fullmatch(name)
    if seen is None:
        return Configuration(name, "", -1)
    return Configuration(seen["model"], seen["style"], int(seen["shots"]))
