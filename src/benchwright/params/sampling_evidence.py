"""How samplers are judged, and which subset is handed on (`sampling:` in conf)."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Rate = Annotated[float, Field(gt=0, le=100)]


class SamplingEvidenceParams(BaseModel):
    """What samplers are compared with, and by whom (docs/sampling.md).

    Attributes:
        answered_by: an item takes part where at least this share of the models answered it, 0–1.
        min_coverage: a model takes part where it answered at least this share of those items.
        at_rates: percent of the items at which samplers are tested against random subsets; the
            middle one is in the headline.
        random_subsets: of each size, at least; more are drawn where so many tests are corrected
            for that no p-value could be small enough.
        band_subsets: random subsets behind the band at each rate of the curves.
        random_draws: draws of `random`, at least: gains are counted from its mean.
        choice_repeats: draws of each sampler for the choice by each split of the models, at most.
        keep: the rank correlation that the smallest sufficient rate keeps.
        estimate_items: size of the subsets from which scores are estimated; at most a quarter of
            the items.
        estimate_subsets: random subsets of that size.
        paper_best, paper_step: the paper's panel is every `paper_step`-th of the `paper_best`
            models by published score.
        paper_models: at least so many of them judge on the items that all of those answered.
        by_subject: also choose a sampler inside each subject.
        subject_items: subjects with fewer items are left out of that.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    answered_by: float = Field(default=0.5, ge=0, le=1)
    min_coverage: float = Field(default=0.95, gt=0, le=1)
    at_rates: tuple[Rate, ...] = Field(default=(5.0, 10.0, 25.0), min_length=1)
    random_subsets: int = Field(default=1_000, ge=1_000)
    band_subsets: int = Field(default=200, ge=20)
    random_draws: int = Field(default=100, ge=1)
    choice_repeats: int = Field(default=5, ge=2)
    keep: float = Field(default=0.9, ge=-1, le=1)
    estimate_items: int = Field(default=100, ge=1)
    estimate_subsets: int = Field(default=5, ge=1)
    paper_best: int = Field(default=1_000, ge=1)
    paper_step: int = Field(default=20, ge=1)
    paper_models: int = Field(default=30, ge=3)
    by_subject: bool = True
    subject_items: int = Field(default=50, ge=2)

    @property
    def main_rate(self) -> float:
        """The rate of the headline."""
        return self.at_rates[(len(self.at_rates) - 1) // 2]

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if list(self.at_rates) != sorted(set(self.at_rates)):
            raise ValueError("at_rates must be increasing")
        return self


class ChosenSubsetParams(BaseModel):
    """The subset that is handed on.

    Attributes:
        sampler: its name, or `chosen`: the one that all models' answers choose.
        size: number of items; where it is null, `rate` decides.
        rate: percent of the items.
        seed: of the draw.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    sampler: str = "random"
    size: int | None = Field(default=None, ge=1)
    rate: Rate = 10.0
    seed: int = Field(default=0, ge=0)
