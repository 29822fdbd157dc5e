"""Settings of samplers and their evaluation (`sampling:` in conf)."""

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from benchwright.params.section import Increasing, Names, Section

Criterion = Literal[
    "spearman",
    "tau_b",
    "pearson",
    "wasserstein",
    "mean_absolute_error",
    "error_sd",
    "rate_variance",
]
Rate = Annotated[float, Field(gt=0, le=100)]


class AdaptiveParams(Section):
    """Choice of a sampler by how it preserves ranks and scores (DELE, Algorithm 1)."""

    # percentages of the items between which samplers are compared
    lowest_rate: float = Field(default=5, gt=0, le=100)
    highest_rate: float = Field(default=25, gt=0, le=100)
    # what samplers are ranked by; the best mean rank wins. `error_sd`: over models;
    # `rate_variance`: of Spearman's correlation over rates, as in the paper.
    criteria: tuple[Criterion, ...] = Field(
        default=("spearman", "wasserstein", "error_sd"), min_length=1
    )
    # splits of the models into a half that chooses and a held-out half; equal splits count once
    splits: int = Field(default=20, ge=0)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.highest_rate < self.lowest_rate:
            raise ValueError(
                f"highest_rate ({self.highest_rate:g}) must not be less than lowest_rate "
                f"({self.lowest_rate:g})"
            )
        return self


class ClusteringParams(Section):
    """Clustering of items by their texts (DELE, section 3.1 and appendix A.1, A.4)."""

    # number of clusters (the paper's 8 on TruthfulQA), or by the bend of squared distances
    k: Literal["elbow"] | Annotated[int, Field(ge=1)] = "elbow"


class SamplingEvidenceParams(Section):
    """The evaluation of samplers (docs/reference/sampling.md)."""

    answered_by: float = Field(default=0.5, ge=0, le=1)  # share of models that an item needs
    min_coverage: float = Field(default=0.95, gt=0, le=1)  # share of these items, of a model
    # percentages at which samplers are tested against random; the headline shows the middle one
    at_rates: Annotated[tuple[Rate, ...], Field(min_length=1), Increasing] = (5.0, 10.0, 25.0)
    # random subsets of each size at least; more are drawn if the correction for multiple tests
    # requires smaller p-values
    random_subsets: int = Field(default=1_000, ge=1_000)
    # draws of `random` at least: their mean is the baseline of gains, and the middle 95% of twenty
    # or more the band of the curves
    random_draws: int = Field(default=100, ge=1)
    estimate_subsets: int = Field(default=5, ge=1)  # random subsets for the estimation of scores
    # minimum number of items of a subject for the choice of a sampler inside it
    subject_items: int = Field(default=50, ge=2)

    @property
    def main_rate(self) -> float:
        """The rate of the headline."""
        return self.at_rates[(len(self.at_rates) - 1) // 2]


class ChosenSubsetParams(Section):
    """The exported subset."""

    # a name, or what the responses of all models choose: `chosen`, `chosen_by_subject`
    sampler: str = "random"
    # number of items; null takes `rate` percent of the items
    size: int | None = Field(default=None, ge=1)
    rate: Rate = 10.0
    seed: int = Field(default=0, ge=0)  # seed of the draw


class SamplingParams(Section):
    """Samplers and their input (DELE, section 3.1)."""

    # names in `methods/dele/samplers/registry.py`, joined by `+` in `--params`, or `all`
    samplers: Annotated[Names, Field(min_length=1)] = ("all",)
    # increasing percentages of the items
    rates: Annotated[tuple[Rate, ...], Field(min_length=1), Increasing] = tuple(
        float(rate) for rate in range(1, 101)
    )
    repeats: int = Field(default=20, ge=1)  # draws of each sampler, each with its own seed
    within_subject: bool = False  # run each sampler inside each subject, with proportional quotas
    encoders: Names = ("all-minilm-l6-v2",)  # whose vectors are clustered
    clustering: ClusteringParams = ClusteringParams()
    adaptive: AdaptiveParams = AdaptiveParams()  # choice of a sampler for the benchmark
    evidence: SamplingEvidenceParams = SamplingEvidenceParams()  # evaluation of the samplers
    export: ChosenSubsetParams = ChosenSubsetParams()  # the exported subset

    @field_validator("samplers")
    @classmethod
    def _all_alone(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if "all" in value and len(value) > 1:
            raise ValueError("`all` cannot be combined with names of samplers")
        return value
