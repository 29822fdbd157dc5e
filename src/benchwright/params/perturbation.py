"""Which altered copies of a benchmark are drawn (`perturbation:` in conf)."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from benchwright.core.option_wording import kind_of_option
from benchwright.params.section import Section


def _says_none(text: str) -> str:
    # A later transform, and a reader, must be able to tell what the option says.
    if kind_of_option(text) != "none_of_the_above":
        raise ValueError(f"{text!r} is not read as a none-of-the-above option")
    return text


class NoneOfTheAboveParams(Section):
    """One option makes way for a last one that says none is right (WiCkeD, section 3).

    Attributes:
        text: of the new option, in a wording that is recognised as none of the above.
    """

    transform: Literal["none_of_the_above"] = "none_of_the_above"
    text: str = "None of the above"

    _text = field_validator("text")(_says_none)


class ShuffleChoicesParams(Section):
    """The options in another order (MMLU-CF, section 3.4, rule 2)."""

    transform: Literal["shuffle_choices"] = "shuffle_choices"


class ReplaceChoiceParams(Section):
    """One option becomes none of the others, in its place (MMLU-CF, section 3.4, rule 3).

    Attributes:
        probability: share of the suitable items that are altered.
        text: of the new option, in a wording that is recognised as none of the above.
    """

    transform: Literal["replace_choice"] = "replace_choice"
    probability: float = Field(default=0.5, ge=0, le=1)
    text: str = "None of the other choices"

    _text = field_validator("text")(_says_none)


class RephraseParams(Section):
    """The question in other words, by a chat model (MMLU-CF, section 3.4, rule 1).

    Attributes:
        model: its name under `models.models`.
        attempts: the most times it is asked; the original stays where none passes the checks.
        temperature: of the second attempt and later ones; the first takes the most probable words.
        max_tokens: the most it may write.
        encoder: name of the sentence encoder that measures how near the new wording is.
        min_similarity: cosine between the two wordings below which one is refused, −1–1.
    """

    transform: Literal["rephrase"] = "rephrase"
    model: str = Field(min_length=1)
    attempts: int = Field(default=3, ge=1, le=20)
    temperature: float = Field(default=0.7, gt=0, le=2)
    max_tokens: int = Field(default=512, ge=16)
    encoder: str = "all-minilm-l6-v2"
    min_similarity: float = Field(default=0.8, ge=-1, le=1)


Transform = Annotated[
    NoneOfTheAboveParams | ShuffleChoicesParams | ReplaceChoiceParams | RephraseParams,
    Field(discriminator="transform"),
]


class PerturbationParams(Section):
    """Named draws of altered items: the conditions `<name>-1` … `<name>-<draws>`.

    Attributes:
        name: of the conditions: lower-case letters, digits and underscores.
        transforms: applied in this order, each once.
        draws: independent draws.
        cumulative: also the first transform alone, the first two, and so on, as perturbations of
            their own: the conditions `<name>_1-1` (first transform, first draw) …
            `<name>_<transforms>-<draws>` (MMLU-CF, Table 2).
        sba: which items have a single best answer, so that no option is taken from them: those
            that a trained `model` or a label says so of, those labelled so in a `file`, or `none`.
    """

    name: str = Field(default="wicked", pattern=r"^[a-z][a-z0-9_]*$")
    transforms: tuple[Transform, ...] = Field(default=(NoneOfTheAboveParams(),), min_length=1)
    draws: int = Field(default=5, ge=1)
    cumulative: bool = False
    sba: Literal["model", "file", "none"] = "file"

    @field_validator("transforms")
    @classmethod
    def _each_once(cls, value: tuple[Transform, ...]) -> tuple[Transform, ...]:
        names = [part.transform for part in value]
        if len(set(names)) < len(names):
            raise ValueError(f"a transform is named twice: {', '.join(names)}")
        return value
