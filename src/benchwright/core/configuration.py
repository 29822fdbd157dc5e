"""Configurations: a model asked in one way, named `<model>@<style>-<shots>`."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

STYLES = {
    "letters": "letters of the options",
    "cloze": "log-likelihoods of the options' texts",
    "cloze_bytes": "log-likelihoods divided by bytes",
    "cloze_tokens": "log-likelihoods divided by tokens",
    "generate": "the letter or final answer that a written answer ends in",
}
"""Styles of prompts, and what is scored."""

LISTING_STYLES = ("letters", "generate")
"""Styles whose prompts list the options."""

SCORED_AS = {"cloze_bytes": "cloze", "cloze_tokens": "cloze"}
"""Styles that are derived from another style's scores."""

# Model names may contain "@" too (`google/text-unicorn@001`).
_ASKED = re.compile(rf"(?P<model>.+)@(?P<style>{'|'.join(STYLES)})-(?P<shots>\d+)", re.DOTALL)


class Configuration(NamedTuple):
    """A model, its style ("" if unknown) and its demonstrations (−1 if unknown)."""

    model: str
    style: str
    shots: int


def configuration_name(model: str, style: str = "", shots: int = -1) -> str:
    """Return the name of a configuration; the model name if style or shots are unknown.

    Raises:
        ValueError: `style` is neither "" nor one of `STYLES`.
    """
    if style and style not in STYLES:
        raise ValueError(f"style is {style!r}; known are {', '.join(STYLES)}")
    if not style or shots < 0:
        return model
    return f"{model}@{style}-{shots}"


def parse_configuration(name: str) -> Configuration:
    """Return model, style and shots of a name; a model name has style "" and shots −1."""
    seen = _ASKED.fullmatch(name)
    if seen is None:
        return Configuration(name, "", -1)
    return Configuration(seen["model"], seen["style"], int(seen["shots"]))


def by_score_first(configuration: Configuration) -> tuple[int, int, str]:
    """Return a sort key: styles in the order of `STYLES`, unknown ones last; more shots first."""
    style = list(STYLES).index(configuration.style) if configuration.style else len(STYLES)
    return style, -configuration.shots, configuration.model


def models_of(names: Iterable[str]) -> list[str]:
    """Return the model of each configuration."""
    return [parse_configuration(name).model for name in names]


def count_models(names: Sequence[str], kind: str = "") -> str:
    """Return `3 models`, or `9 configurations of 3 models`; `kind` precedes the first noun."""
    n = len(names)
    models = len(set(models_of(names)))
    kind = f"{kind} " if kind else ""
    noun = "model" if models == 1 else "models"
    if n == models:
        return f"{n:,} {kind}{noun}"
    return f"{n:,} {kind}configurations of {models:,} {noun}"
