"""How a benchmark is halved, and what counts as a leak (`splitting:` in conf)."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LeakageParams(_Section):
    """Which pairs of questions across the halves are one question in other words.

    Attributes:
        candidate: cosine similarity from which a pair is looked at, −1–1.
        certain: from here a pair is a leak without being judged, where its numbers agree.
        overlap: share of common words (Jaccard) from which an unjudged pair counts as a leak.
        judge: a chat model under `models.models` that decides the pairs between; None leaves it
            to the words.
        attempts: the most times it is asked about a pair whose reply cannot be read.
        repair: `move` keeps both in one half, `remove` drops one.
        rounds: of finding and moving, at most.
    """

    candidate: float = Field(default=0.80, ge=-1, le=1)
    certain: float = Field(default=0.97, ge=-1, le=1)
    overlap: float = Field(default=0.6, gt=0, le=1)
    judge: str | None = None
    attempts: int = Field(default=3, ge=1, le=20)
    repair: Literal["move", "remove"] = "move"
    rounds: int = Field(default=10, ge=1)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.certain < self.candidate:
            raise ValueError(
                f"certain ({self.certain}) is below candidate ({self.candidate}): no pair would "
                "be certain without being a candidate"
            )
        return self


class SplittingParams(_Section):
    """Two halves with the same fields and difficulty (MMLU-CF, sections 3.2 and 4.5).

    Attributes:
        validation_share: of the questions that become public.
        leakage: what may not stand on both sides.
        level: coverage of the intervals of the gap between the halves.
        alpha: chance of any false alarm of the monitor, over all models.
    """

    validation_share: float = Field(default=0.5, gt=0, lt=1)
    leakage: LeakageParams = LeakageParams()
    level: float = Field(default=0.95, gt=0, lt=1)
    alpha: float = Field(default=0.05, gt=0, lt=1)
