"""How hard questions are (`difficulty:` in conf; docs/judges.md)."""

from typing import Literal, Self

from pydantic import Field, model_validator

from benchwright.core.configuration import STYLES, parse_configuration
from benchwright.params.judging import JudgesParams


class DifficultyParams(JudgesParams):
    """Ratings 0–9 by judges (MMLU-CF, section 3.2, step 3).

    Attributes:
        at_most: questions that judges rate and models answer, drawn at random; the others have no
            level and are not sampled. None asks about all.
        shots: worked examples shown before the question, of those there are.
        examples_file: a CSV or Parquet table of such examples, in place of the bundled ones.
        combine: what several judges' ratings come to: their `median` or `mean`.
        again: the judges also rate the questions as they are after the contamination-free rules.
        fallback: where no judge gave a rating: difficulty from models' `responses`, or `none`.
        answering: configurations without demonstrations whose models answer for the fallback.
        answers_file: a CSV or Parquet table of answers for it: item_id, model, correct.
        fewest_models: with answers, for the fallback.
    """

    at_most: int | None = Field(default=None, ge=1)
    shots: int = Field(default=5, ge=0)
    examples_file: str | None = None
    combine: Literal["median", "mean"] = "median"
    again: bool = True
    fallback: Literal["responses", "none"] = "responses"
    answering: tuple[str, ...] = ()
    answers_file: str | None = None
    fewest_models: int = Field(default=5, ge=2)

    @model_validator(mode="after")
    def _answer_without_demonstrations(self) -> Self:
        for name in self.answering:
            if parse_configuration(name).shots != 0:
                raise ValueError(
                    f"difficulty.answering: {name!r} is not <model>@<style>-0 with a style of "
                    f"{', '.join(STYLES)}; there are no demonstrations to show"
                )
        if len(set(self.answering)) < len(self.answering):
            raise ValueError("difficulty.answering names a configuration twice")
        return self
