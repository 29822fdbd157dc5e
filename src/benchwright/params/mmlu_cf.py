"""Settings of MMLU-CF, from documents to a sealed benchmark (docs/reference/mmlu_cf.md).

`collection`, `cleaning`, `fields`, `difficulty`, `sampling_by_difficulty`, `checking`, `splitting`,
`sealing`, `half_gap`, `memorisation`, `open_benchmark` in conf/.
"""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, SecretStr, model_validator

from benchwright.core.configuration import STYLES, parse_configuration
from benchwright.params.section import Distinct, Section


class BatchClusterParams(Section):
    """The Ray cluster of `engine: ray` (docs/how_to/run_on_ray.md)."""

    # of an existing cluster (`auto`, `host:6379`); None starts one on this machine
    address: str | None = None
    # allow Ray to write texts to disk when its store is full; it must be true
    allow_spill: bool = False


class BatchEngineParams(Section):
    """Where the batches of a stage run; results do not depend on it."""

    engine: Literal["local", "ray"] = "local"
    workers: int = Field(default=1, ge=1)  # processes, each on one core
    ray: BatchClusterParams = BatchClusterParams()


class CollectionParams(BatchEngineParams):
    """Reading documents and extracting questions (MMLU-CF, section 3.2, step 1).

    With several workers, or on Ray, each shard is read and extracted by one of them.
    """


RuleName = Literal[
    "too_long", "unreadable", "n_choices", "empty_choices", "label_set", "labels",
    "short_question", "answer_format", "question_numbering", "choice_numbering", "choice_order",
    "question_complete", "answer_within_choices", "roman_numerals", "lower_case_start",
    "non_english", "exact_duplicate", "near_duplicate",
]  # fmt: skip
"""The rules in the order in which they run."""


class CleaningParams(BatchEngineParams):
    """Rules for extracted questions (MMLU-CF, section 3.2, step 2), and where they run."""

    off: tuple[RuleName, ...] = ()  # rules that do not run
    # accepted numbers of choices
    n_choices: tuple[Annotated[int, Field(ge=2, le=26)], ...] = Field(default=(4,), min_length=1)


class JudgesParams(Section):
    """Chat models that judge."""

    # names under `models.models`; empty skips judging
    judges: Annotated[tuple[str, ...], Distinct] = ()
    attempts: int = Field(default=3, ge=1, le=20)  # until a reply can be read
    max_tokens: int = Field(default=24, ge=1)  # maximum length of a reply


class FieldsParams(JudgesParams):
    """One of 14 fields for each question (MMLU-CF, section 3.1 and Figure 6)."""

    # a `classifier` on sentence vectors, or `judges`
    by: Literal["classifier", "judges"] = "classifier"
    encoder: str = "all-minilm-l6-v2"  # sentence encoder, by its name under `models.encoders`


class DifficultyParams(JudgesParams):
    """Ratings 0–9 by judges (MMLU-CF, section 3.2, step 3)."""

    # questions to rate, at random; others are not sampled. None rates all.
    at_most: int | None = Field(default=None, ge=1)
    shots: int = Field(default=5, ge=0)  # worked examples before the question
    rate_final: bool = True  # also rate the questions after the contamination-free rules
    # zero-shot configurations whose answers give levels where no judge does
    answering: Annotated[tuple[str, ...], Distinct] = ()
    min_models: int = Field(default=5, ge=2)  # models with answers that levels need

    @model_validator(mode="after")
    def _answer_without_demonstrations(self) -> Self:
        for name in self.answering:
            if parse_configuration(name).shots != 0:
                raise ValueError(
                    f"difficulty.answering: {name!r} is not <model>@<style>-0 with a style of "
                    f"{', '.join(STYLES)}; there are no demonstrations to show"
                )
        return self


class SamplingByDifficultyParams(Section):
    """A sample by difficulty under quotas (MMLU-CF, section 3.2, step 3)."""

    size: int = Field(default=50_000, ge=1)  # questions in the sample (the paper: of 1.66 million)
    mean: float = 6.0  # of the normal distribution over the levels 0–9
    sd: float = Field(default=1.5, gt=0)  # which the paper does not state
    fields: Literal["equal", "proportional"] = "equal"


class CheckingParams(JudgesParams):
    """Quality and harmlessness (MMLU-CF, section 3.2, step 4, and Table 4)."""

    above: float = Field(default=4.0, ge=1, le=5)  # mean rating, 1–5, that a question must exceed
    unjudged: Literal["keep", "drop"] = "drop"  # whether to keep questions that no judge rated
    # questions sampled from those that passed; None takes all (the paper: 20,000 of 50,000)
    size: int | None = Field(default=None, ge=2)
    max_tokens: int = Field(default=160, ge=1)


class LeakageParams(Section):
    """How paraphrases of one question across the halves are found."""

    judge: str | None = None  # a chat model that decides on pairs; None counts common words


class SplittingParams(Section):
    """Two halves with the same fields and difficulty (MMLU-CF, sections 3.2 and 4.5)."""

    leakage: LeakageParams = LeakageParams()  # search for paraphrases across the halves


class SealingParams(Section):
    """Name, key and smallest reported group of a sealed benchmark."""

    # Errors must not show a key that was given in the wrong place.
    model_config = ConfigDict(hide_input_in_errors=True)

    # part of the keyed ids and of the canaries
    name: str = Field(default="mmlu_cf", pattern=r"^[a-z][a-z0-9_]*$")
    licence: str = ""  # of the documents, for the card of the public half
    # instead of BENCHWRIGHT_SEAL_KEY; never shown, since a key may be typed here
    key_file: SecretStr | None = None
    min_group: int = Field(default=50, ge=2)  # questions of a field whose accuracy is reported


class HalfGapParams(Section):
    """The monitor of the gap between the halves (MMLU-CF, section 4.5)."""

    # which of several benchmarks: its name, or the beginning of the SHA-256 of its `test.sealed`
    sealed: str | None = None
    # a saved run of `smart` whose accuracies stand beside (MMLU-CF, Table 1), e.g. mmlu/smart
    original: str | None = Field(default=None, pattern=r"^\w+/\w+(/[\w-]+)?$")


class OpenBenchmarkParams(Section):
    """The export of an open benchmark."""

    demonstrations: int = Field(default=5, ge=0)  # of each field, at most
