"""Settings of the evaluation stage and the human ratings it compares with."""

from pydantic import Field

from benchwright.params.section import Section


class EvaluationParams(Section):
    """The `evaluation` section of a variant.

    Attributes:
        min_coverage: a model joins the panel when it answered at least this share of the judged
            items, 0–1.
        confidence: the probability above which an answer counts as confident in the profile of
            the filter models, 0–1.
        agreement_models: most models in the pairwise agreement; more are thinned out evenly
            along the ranking.
        rank_chart_models: most models in the chart of ranks, thinned out in the same way.
        report_items: most items in the report's searchable list, removed ones first.
        examples_per_rule: removed items shown in the report for each rule.
        largest_groups: groups of similar items shown in the report with their texts.
        random_subsets: random subsets of the same size that the result is compared with, of each
            kind (plain, stratified by subject); 0 leaves the comparison out.
        bootstrap_draws: resamples behind each interval; 0 gives no intervals.
        top_models: best models whose range of scores is the spread.
        report_models: most models whose answers the report shows beside an item, filter models
            first.
        review_items: removed items per rule in the sheet for a person to judge.
        ire_percentile: the baseline IRE drops items below this percentile (0–100) of difficulty
            or discrimination; None leaves it out.
    """

    min_coverage: float = Field(default=0.95, gt=0, le=1)
    confidence: float = Field(default=0.8, ge=0, le=1)
    agreement_models: int = Field(default=30, ge=2)
    rank_chart_models: int = Field(default=60, ge=2)
    report_items: int = Field(default=2_000, ge=0)
    examples_per_rule: int = Field(default=3, ge=0)
    largest_groups: int = Field(default=10, ge=0)
    random_subsets: int = Field(default=1_000, ge=0)
    bootstrap_draws: int = Field(default=1_000, ge=0)
    top_models: int = Field(default=20, ge=2)
    report_models: int = Field(default=30, ge=0)
    review_items: int = Field(default=100, ge=0)
    ire_percentile: float | None = Field(default=25, ge=0, lt=100)


class RatingsParams(Section):
    """Human preference ratings by model name, all of one source and one date.

    Attributes:
        source: where the ratings come from, in words.
        date: the day they were read, as text.
        values: rating by model name, the organisation may be left out.
    """

    source: str = ""
    date: str = ""
    values: dict[str, float] = Field(default_factory=dict)
