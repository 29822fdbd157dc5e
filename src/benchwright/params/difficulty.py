"""How hard questions are (`difficulty:` in conf; docs/judges.md)."""

from typing import Literal

from pydantic import Field

from benchwright.params.judging import JudgesParams


class DifficultyParams(JudgesParams):
    """Ratings 0–9 by judges (MMLU-CF, section 3.2, step 3).

    Attributes:
        shots: worked examples shown before the question, of those there are.
        combine: what several judges' ratings come to: their `median` or `mean`.
        fallback: where no judge gave a rating: difficulty from models' `responses`, or `none`.
        fewest_models: with answers, for the fallback.
    """

    shots: int = Field(default=5, ge=0)
    combine: Literal["median", "mean"] = "median"
    fallback: Literal["responses", "none"] = "responses"
    fewest_models: int = Field(default=5, ge=2)
