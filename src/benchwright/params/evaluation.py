"""Settings of the evaluation stage, and human ratings."""

from pydantic import Field

from benchwright.params.section import Section


class EvaluationParams(Section):
    """The `evaluation` section of a variant."""

    # minimum share of items that a model of the panel answered
    min_coverage: float = Field(default=0.95, gt=0, le=1)
    # probability above which a response of a filter model counts as confident
    confidence: float = Field(default=0.8, ge=0, le=1)
    # maximum number of models in the pairwise agreement, spread evenly over the ranking
    agreement_models: int = Field(default=30, ge=2)
    rank_chart_models: int = Field(default=60, ge=2)  # the same for the chart of ranks
    examples_per_rule: int = Field(default=3, ge=0)  # removed items per rule in the report
    largest_groups: int = Field(default=10, ge=0)  # groups of similar items in the report
    # random subsets per kind (plain, stratified by subject) in the comparison with random subsets;
    # 0 skips the comparison
    random_subsets: int = Field(default=1_000, ge=0)
    # resamples behind each interval; 0 gives no intervals
    bootstrap_samples: int = Field(default=1_000, ge=0)
    # number of best models whose range of scores is the spread
    top_models: int = Field(default=20, ge=2)
    # maximum number of models with responses in the report; filter models first
    report_models: int = Field(default=30, ge=0)
    review_items: int = Field(default=100, ge=0)  # removed items per rule in the review sheet
    # the IRE baseline drops items below this percentile (0–100) of difficulty or discrimination;
    # None skips it
    ire_percentile: float | None = Field(default=25, ge=0, lt=100)


class RatingsParams(Section):
    """Human preference ratings of one source and date, by model name (organisation optional)."""

    source: str = ""
    date: str = ""
    values: dict[str, float] = Field(default_factory=dict)
