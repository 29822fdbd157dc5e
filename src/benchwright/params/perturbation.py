"""Settings of perturbed copies of a benchmark (`perturbation:` in conf)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator

from benchwright.core.errors import InputError
from benchwright.core.option_wording import kind_of_option
from benchwright.params.section import Section


def _says_none(text: str) -> str:
    # Later transforms must recognise this option.
    if kind_of_option(text) != "none_of_the_above":
        raise ValueError(f"{text!r} is not recognised as a none-of-the-above option")
    return text


NoneText = Annotated[str, AfterValidator(_says_none)]


class NoneOfTheAboveParams(Section):
    """Replacement of one option by a final "None of the above" (WiCkeD, section 3)."""

    transform: Literal["none_of_the_above"] = "none_of_the_above"
    text: NoneText = "None of the above"


class ShuffleChoicesParams(Section):
    """A random order of the options (MMLU-CF, section 3.2, step 5, rule 2)."""

    transform: Literal["shuffle_choices"] = "shuffle_choices"


class ReplaceChoiceParams(Section):
    """Replacement of an option by "None of the other choices" (MMLU-CF, 3.2, step 5, rule 3).

    `probability` is the share of eligible items that are altered.
    """

    transform: Literal["replace_choice"] = "replace_choice"
    probability: float = Field(default=0.5, ge=0, le=1)
    text: NoneText = "None of the other choices"


class RephraseParams(Section):
    """Rephrasing of the question by a chat model (MMLU-CF, section 3.2, step 5, rule 1)."""

    transform: Literal["rephrase"] = "rephrase"
    model: str = Field(min_length=1)  # its name under `models.models`
    attempts: int = Field(default=3, ge=1, le=20)  # at most; else the item is unchanged
    encoder: str = "all-minilm-l6-v2"  # sentence encoder that compares the two wordings
    min_similarity: float = Field(default=0.8, ge=-1, le=1)  # cosine of the two wordings


Transform = Annotated[
    NoneOfTheAboveParams | ShuffleChoicesParams | ReplaceChoiceParams | RephraseParams,
    Field(discriminator="transform"),
]


class PerturbationParams(Section):
    """Perturbed copies: the conditions `<name>-1` … `<name>-<copies>`."""

    # lower-case letters, digits and underscores
    name: str = Field(default="wicked", pattern=r"^[a-z][a-z0-9_]*$")
    # applied in this order, each once
    transforms: tuple[Transform, ...] = Field(default=(NoneOfTheAboveParams(),), min_length=1)
    copies: int = Field(default=5, ge=1)  # number of independent copies
    # every prefix of the transforms is a perturbation `<name>_1`, … (MMLU-CF, Table 2)
    cumulative: bool = False
    # who says which items lose no option: labels in a `file`; these and, for other items, a trained
    # `model` or a chat model (`judge`); or `none`
    sba: Literal["model", "judge", "file", "none"] = "file"

    @field_validator("transforms")
    @classmethod
    def _each_once(cls, value: tuple[Transform, ...]) -> tuple[Transform, ...]:
        names = [part.transform for part in value]
        if len(set(names)) < len(names):
            raise ValueError(f"transforms must not repeat: {', '.join(names)}")
        return value


ONE_COPY = {"copies": 1, "cumulative": False, "sba": "none"}


def require_one_copy(given: PerturbationParams) -> None:
    """Check the settings of `perturbation` that a benchmark with one form of each question has.

    Raises:
        InputError: several copies or single-best-answer items are asked for.
    """
    for name, only in ONE_COPY.items():
        if name in given.model_fields_set and (value := getattr(given, name)) != only:
            raise InputError(
                f"perturbation.{name} is {value}, but the pipeline mmlu_cf applies all "
                f"transforms once to every question: leave it out, or set it to {only}"
            )
