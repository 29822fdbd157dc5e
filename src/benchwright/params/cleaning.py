"""How extracted questions are cleaned (`cleaning:` in conf; docs/cleaning.md)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from benchwright.params.batch_engine import BatchEngineParams

RuleName = Literal[
    "too_long",
    "unreadable",
    "n_choices",
    "empty_choices",
    "label_set",
    "labels",
    "short_question",
    "answer_format",
    "question_numbering",
    "choice_numbering",
    "choice_order",
    "question_complete",
    "answer_within_choices",
    "roman_numerals",
    "lower_case_start",
    "non_english",
    "exact_duplicate",
    "near_duplicate",
]
"""The rules in the order in which they run."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LengthLimits(_Section):
    """Characters above which a row is rejected before any other rule reads it.

    Attributes:
        question, choice, passage, explanation, answer: of one text.
        choices: the most options (they are lettered A–Z).
    """

    question: int = Field(default=10_000, ge=1)
    choice: int = Field(default=2_000, ge=1)
    passage: int = Field(default=50_000, ge=1)
    explanation: int = Field(default=50_000, ge=1)
    answer: int = Field(default=2_000, ge=1)
    choices: int = Field(default=26, ge=2, le=26)


class LanguageParams(_Section):
    """When a question counts as not English.

    Attributes:
        foreign_letters: share of letters of other scripts above which it does, 0–1.
        probability: of the most probable language, where that is not English, 0–1.
        letters: a question with fewer letters is not rejected for its language.
    """

    foreign_letters: float = Field(default=0.2, ge=0, le=1)
    probability: float = Field(default=0.9, ge=0.5, le=1)
    letters: int = Field(default=25, ge=1)


class NearDuplicateParams(_Section):
    """MinHash LSH over question and choices, each pair checked by exact Jaccard similarity.

    Attributes:
        similarity: Jaccard similarity of question and choices together from which two items are
            near-duplicates, 0–1.
        part_similarity: what the passage, the beginning and the last sentence of the question, and
            the choices must reach each by themselves, so that a long passage that two items share
            does not make them duplicates.
        permutations: length of a MinHash signature.
        bands: of the signature; two items are compared where a whole band is equal.
        neighbours: in a band's bucket, how many items before it each is compared with.
        seed: of the hash functions.
    """

    similarity: float = Field(default=0.7, gt=0, le=1)
    part_similarity: float = Field(default=0.5, gt=0, le=1)
    permutations: int = Field(default=64, ge=8, le=512)
    bands: int = Field(default=16, ge=1)
    neighbours: int = Field(default=5, ge=1)
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _whole_bands(self) -> "NearDuplicateParams":
        if self.permutations % self.bands:
            raise ValueError(
                f"bands: {self.bands} does not divide permutations ({self.permutations})"
            )
        return self


class CleaningParams(BatchEngineParams):
    """Rules for extracted questions (MMLU-CF, section 3.2, step 2), and where they run.

    Attributes:
        off: rules that do not run.
        n_choices: numbers of choices that are kept.
        question_characters: a shorter question is rejected.
        strict_lower_case: also reject a first word such as "pH", "mRNA" or the variable "x".
        conflicting_answers: what becomes of items with the same question and choices but different
            answers: `reject` all of them, or `keep` one.
    """

    off: tuple[RuleName, ...] = ()
    n_choices: tuple[int, ...] = Field(default=(4,), min_length=1)
    question_characters: int = Field(default=10, ge=1)
    strict_lower_case: bool = False
    conflicting_answers: Literal["reject", "keep"] = "reject"
    limits: LengthLimits = LengthLimits()
    language: LanguageParams = LanguageParams()
    near_duplicates: NearDuplicateParams = NearDuplicateParams()

    @model_validator(mode="after")
    def _possible(self) -> "CleaningParams":
        if wrong := [n for n in self.n_choices if not 2 <= n <= 26]:
            raise ValueError(f"n_choices: {wrong[0]} is not between 2 and 26")
        return self
