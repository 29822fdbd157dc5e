"""Settings of samplers, their evaluation (`sampling:`) and estimators (`estimation:` in conf)."""

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


class AdaptiveParams(Section):
    """Choice of a sampler by how it preserves ranks and scores (DELE, Algorithm 1)."""

    # lowest_rate, highest_rate: samplers are compared between these percentages of the items
    lowest_rate: float = Field(default=5, gt=0, le=100)
    highest_rate: float = Field(default=25, gt=0, le=100)
    # Spearman correlation, mean over repeats, that a sampler must reach at each rate
    min_correlation: float = Field(default=0.9, ge=-1, le=1)
    # what samplers are ranked by; the best mean rank wins. All are means over single draws, so a
    # sampler gains nothing by drawing the same items again. `error_sd` is the standard deviation of
    # a model's score error over models, `rate_variance` the paper's variance of Spearman's
    # correlation over rates.
    criteria: tuple[Criterion, ...] = Field(
        default=("spearman", "wasserstein", "error_sd"), min_length=1
    )
    # number of splits of the models into those that choose and held-out ones; repeated splits of
    # few families count once
    splits: int = Field(default=20, ge=0)
    selection_share: float = Field(default=0.5, gt=0, lt=1)  # share of the models that choose

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.highest_rate < self.lowest_rate:
            raise ValueError(
                f"highest_rate ({self.highest_rate:g}) must not be less than lowest_rate "
                f"({self.lowest_rate:g})"
            )
        return self


class AnchorParams(Section):
    """Settings of the samplers that read responses."""

    # clustering behind anchor points. `ward` builds one tree for all sizes; `kmeans`
    # (tinyBenchmarks) is fitted for each size.
    algorithm: Literal["ward", "kmeans"] = "ward"
    # number of principal components of the responses to cluster; this bounds the time with
    # thousands of models
    components: int = Field(default=64, ge=1)
    starts: int = Field(default=3, ge=1)  # number of runs of k-means; the best one is used
    steps: int = Field(default=100, ge=1)  # maximum number of steps of k-means
    # seed of k-means. Clusters are fitted once per pool; repeats break ties.
    seed: int = Field(default=0, ge=0)
    # an item's correlation with the score on the other items (`rest_score`), or the slope of the
    # two-parameter model (`2pl`)
    discrimination: Literal["rest_score", "2pl"] = "rest_score"
    # exponent of the share of wrong responses in the item weights of `share_wrong`; 0 draws
    # uniformly
    hardness: float = Field(default=1.0, ge=0)


class DbscanParams(Section):
    """DBSCAN as printed (DELE, appendix A.4), on TF-IDF and on dense sentence vectors."""

    tfidf_eps: float = Field(default=0.003, gt=0, le=2)  # radius in cosine distance, on TF-IDF
    # tfidf_min_samples, dense_min_samples: items within the radius, itself included, of a core item
    tfidf_min_samples: int = Field(default=3, ge=1)
    # radius in Euclidean distance. Vectors here have length 1 and are at most 2 apart: 1.7 reaches
    # all vectors except those of cosine below −0.445, so nearly any benchmark becomes one cluster.
    dense_eps: float = Field(default=1.7, gt=0)
    dense_min_samples: int = Field(default=5, ge=1)
    # leaf size of the ball tree; it changes the time, not the result
    leaf_size: int = Field(default=90, ge=1)


class ClusteringParams(Section):
    """Clustering of items by their texts (DELE, section 3.1 and appendix A.1, A.4)."""

    # number of clusters (the paper's 8 on TruthfulQA), or how it is chosen among `candidates`: the
    # bend in the curve of squared distances (`elbow`), or the highest `silhouette`
    k: Literal["elbow", "silhouette"] | Annotated[int, Field(ge=1)] = "elbow"
    # increasing numbers of clusters to try
    candidates: Annotated[
        tuple[Annotated[int, Field(ge=2)], ...], Field(min_length=3), Increasing
    ] = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16)
    # seed of the fits. Clusters are fitted once per pool; repeats draw inside them.
    seed: int = Field(default=0, ge=0)
    starts: int = Field(default=3, ge=1)  # number of runs of k-means; the best one is used
    # neighbours of each item in the graph of spectral clustering
    neighbours: int = Field(default=10, ge=1)
    # input of LDA: `tfidf` as in the paper, or word `counts`, for which LDA is designed
    lda: Literal["tfidf", "counts"] = "tfidf"
    most_words: int = Field(default=10_000, ge=1)  # maximum size of the vocabulary, by frequency
    # silhouette_items, map_items: maximum number of items for the silhouette and the t-SNE map
    silhouette_items: int = Field(default=2000, ge=10)
    map_items: int = Field(default=1500, ge=10)
    dbscan: DbscanParams = DbscanParams()


Rate = Annotated[float, Field(gt=0, le=100)]


class SamplingEvidenceParams(Section):
    """The evaluation of samplers (docs/reference/sampling.md)."""

    # use items that at least this share of the models answered
    answered_by: float = Field(default=0.5, ge=0, le=1)
    # use models that answered at least this share of those items
    min_coverage: float = Field(default=0.95, gt=0, le=1)
    # percentages of the items at which samplers are tested against random subsets; the headline
    # shows the middle one
    at_rates: Annotated[tuple[Rate, ...], Field(min_length=1), Increasing] = (5.0, 10.0, 25.0)
    # minimum number of random subsets of each size; more are drawn if the correction for multiple
    # tests requires smaller p-values
    random_subsets: int = Field(default=1_000, ge=1_000)
    # number of random subsets for the band at each rate of the curves
    band_subsets: int = Field(default=200, ge=20)
    # minimum number of draws of `random`, whose mean is the baseline of gains
    random_draws: int = Field(default=100, ge=1)
    # maximum number of draws of each sampler for the choice by each split
    choice_repeats: int = Field(default=5, ge=2)
    # the rank correlation that defines the smallest sufficient rate
    keep: float = Field(default=0.9, ge=-1, le=1)
    # size of the subsets for score estimation, at most a quarter of the items
    estimate_items: int = Field(default=100, ge=1)
    estimate_subsets: int = Field(default=5, ge=1)  # number of random subsets of this size
    # paper_best, paper_step: the paper's panel is every `paper_step`-th of the `paper_best` models
    # by published score
    paper_best: int = Field(default=1_000, ge=1)
    paper_step: int = Field(default=20, ge=1)
    # minimum size of this panel on the items that all of its models answered
    paper_models: int = Field(default=30, ge=3)
    by_subject: bool = True  # also choose a sampler inside each subject
    subject_items: int = Field(default=50, ge=2)  # minimum number of items of a subject for this

    @property
    def main_rate(self) -> float:
        """The rate of the headline."""
        return self.at_rates[(len(self.at_rates) - 1) // 2]


class ChosenSubsetParams(Section):
    """The exported subset."""

    # a name; `chosen` for the one chosen by the responses of all models; `chosen_by_subject` for
    # the one that they choose inside each subject
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
    # the text that features and encoders use
    feature_text: Literal["question", "question_and_choices"] = "question"
    # encoders under `models.encoders` whose vectors are clustered
    encoders: Names = ("all-minilm-l6-v2",)
    # whether the three parts of the compound probability distribution are `standardised` over the
    # items, or `raw` as in the paper
    cpd: Literal["standardised", "raw"] = "standardised"
    clustering: ClusteringParams = ClusteringParams()  # settings of the samplers that cluster texts
    anchors: AnchorParams = AnchorParams()  # settings of the samplers that read responses
    adaptive: AdaptiveParams = AdaptiveParams()  # choice of a sampler for the benchmark
    evidence: SamplingEvidenceParams = SamplingEvidenceParams()  # evaluation of the samplers
    export: ChosenSubsetParams = ChosenSubsetParams()  # the exported subset
    # CSV or Parquet file with columns `name` and `avg`: leaderboard scores that determine the
    # paper's panel; relative to `mirror_root`/responses, or absolute
    published_scores: str | None = None
    # a model under `models.models` whose tokenizer counts the items' tokens; null counts four
    # characters as a token
    tokenizer: str | None = None

    @field_validator("samplers")
    @classmethod
    def _all_alone(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if "all" in value and len(value) > 1:
            raise ValueError("`all` cannot be combined with names of samplers")
        return value


class EstimationParams(Section):
    """The `estimation` section (docs/explanation/estimation.md)."""

    level: float = Field(default=0.95, gt=0, lt=1)  # target coverage of intervals
    # number of folds of the training models. Each fold is estimated from the others; the errors
    # give the intervals of p_irt, gp_irt, ridge and of weighted subsets.
    folds: int = Field(default=5, ge=2)
    # number of training models with the most similar estimates whose errors give an interval; all
    # if there are fewer
    neighbours: int = Field(default=200, ge=20)
    # share of the best training models. They are estimated from the others; the errors apply to new
    # models that are better than all training models.
    forward_share: float = Field(default=0.3, gt=0, lt=1)
    # for aipw: whether responses are (1 + B − A)/2 of two models, for which no item is easy
    paired: bool = False
    # interval of p_irt: `calibrated` by errors on training models, or that of the `model`, which is
    # too narrow on real responses
    interval: Literal["calibrated", "model"] = "calibrated"
