"""Which altered copies of a benchmark are drawn (`perturbation:` in conf; docs/perturbation.md)."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from benchwright.option_wording import kind_of_option


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _says_none(text: str) -> str:
    # A later transform, and a reader, must be able to tell what the option says.
    if kind_of_option(text) != "none_of_the_above":
        raise ValueError(f"{text!r} is not read as a none-of-the-above option")
    return text


class NoneOfTheAboveParams(_Section):
    """One option makes way for a last one that says none is right (WiCkeD, section 3).

    Attributes:
        text: of the new option, in a wording that is recognised as none of the above.
    """

    transform: Literal["none_of_the_above"] = "none_of_the_above"
    text: str = "None of the above"

    _text = field_validator("text")(_says_none)


class ShuffleChoicesParams(_Section):
    """The options in another order (MMLU-CF, section 3.4, rule 2)."""

    transform: Literal["shuffle_choices"] = "shuffle_choices"


class ReplaceChoiceParams(_Section):
    """One option becomes none of the others, in its place (MMLU-CF, section 3.4, rule 3).

    Attributes:
        probability: share of the suitable items that are altered.
        text: of the new option, in a wording that is recognised as none of the above.
    """

    transform: Literal["replace_choice"] = "replace_choice"
    probability: float = Field(default=0.5, ge=0, le=1)
    text: str = "None of the other choices"

    _text = field_validator("text")(_says_none)


Transform = Annotated[
    NoneOfTheAboveParams | ShuffleChoicesParams | ReplaceChoiceParams,
    Field(discriminator="transform"),
]


class PerturbationParams(_Section):
    """Named draws of altered items: the conditions `<name>-1` … `<name>-<draws>`.

    Attributes:
        name: of the conditions: lower-case letters, digits and underscores.
        transforms: applied in this order, each once.
        draws: independent draws.
        sba: which items have a single best answer, so that no option is taken from them: those
            labelled so in a `file`, or `none`.
    """

    name: str = Field(default="wicked", pattern=r"^[a-z][a-z0-9_]*$")
    transforms: tuple[Transform, ...] = Field(default=(NoneOfTheAboveParams(),), min_length=1)
    draws: int = Field(default=5, ge=1)
    sba: Literal["file", "none"] = "file"

    @field_validator("transforms")
    @classmethod
    def _each_once(cls, value: tuple[Transform, ...]) -> tuple[Transform, ...]:
        names = [part.transform for part in value]
        if len(set(names)) < len(names):
            raise ValueError(f"a transform is named twice: {', '.join(names)}")
        return value
