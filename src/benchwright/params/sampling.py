"""Settings of samplers, their evaluation (`sampling:`) and estimators (`estimation:` in conf)."""

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from benchwright.params.section import Increasing, Names, Section

Criterion = Literal[
    "spearman", "tau_b", "pearson", "wasserstein", "mean_absolute_error", "variance"
]


class AdaptiveParams(Section):
    """Choice of a sampler by how it preserves ranks and scores (DELE, Algorithm 1).

    Attributes:
        lowest_rate, highest_rate: samplers are compared between these percentages of the items.
        min_correlation: Spearman correlation, mean over repeats, that a sampler must reach at each
            rate.
        criteria: what samplers are ranked by; the best mean rank wins. `variance` is that of the
            models' mean score over repeats.
        splits: number of splits of the models into those that choose and held-out ones.
        selection_share: share of the models that choose.
    """

    lowest_rate: float = Field(default=5, gt=0, le=100)
    highest_rate: float = Field(default=25, gt=0, le=100)
    min_correlation: float = Field(default=0.9, ge=-1, le=1)
    criteria: tuple[Criterion, ...] = Field(
        default=("spearman", "wasserstein", "variance"), min_length=1
    )
    splits: int = Field(default=20, ge=0)
    selection_share: float = Field(default=0.5, gt=0, lt=1)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.highest_rate < self.lowest_rate:
            raise ValueError(
                f"highest_rate ({self.highest_rate:g}) must not be less than lowest_rate "
                f"({self.lowest_rate:g})"
            )
        return self


class AnchorParams(Section):
    """Settings of the samplers that read responses.

    Attributes:
        algorithm: clustering behind anchor points. `ward` builds one tree for all sizes; `kmeans`
            (tinyBenchmarks) is fitted for each size.
        components: number of principal components of the responses to cluster; this bounds the
            time with thousands of models.
        starts: number of runs of k-means; the best one is used.
        steps: maximum number of steps of k-means.
        seed: seed of k-means. Clusters are fitted once per pool; repeats break ties.
        discrimination: an item's correlation with the score on the other items (`rest_score`), or
            the slope of the two-parameter model (`2pl`).
        hardness: exponent of the share of wrong responses in the item weights of `share_wrong`; 0
            draws uniformly.
    """

    algorithm: Literal["ward", "kmeans"] = "ward"
    components: int = Field(default=64, ge=1)
    starts: int = Field(default=3, ge=1)
    steps: int = Field(default=100, ge=1)
    seed: int = Field(default=0, ge=0)
    discrimination: Literal["rest_score", "2pl"] = "rest_score"
    hardness: float = Field(default=1.0, ge=0)


class DbscanParams(Section):
    """DBSCAN as printed (DELE, appendix A.4), on TF-IDF and on dense sentence vectors.

    Attributes:
        tfidf_eps: radius in cosine distance, on TF-IDF.
        tfidf_min_samples, dense_min_samples: items within the radius, itself included, of a core
            item.
        dense_eps: radius in Euclidean distance. Vectors here have length 1 and are at most 2 apart:
            1.7 reaches all vectors except those of cosine below −0.445, so nearly any benchmark
            becomes one cluster.
        leaf_size: leaf size of the ball tree; it changes the time, not the result.
    """

    tfidf_eps: float = Field(default=0.003, gt=0, le=2)
    tfidf_min_samples: int = Field(default=3, ge=1)
    dense_eps: float = Field(default=1.7, gt=0)
    dense_min_samples: int = Field(default=5, ge=1)
    leaf_size: int = Field(default=90, ge=1)


class ClusteringParams(Section):
    """Clustering of items by their texts (DELE, section 3.1 and appendix A.1, A.4).

    Attributes:
        k: number of clusters (the paper's 8 on TruthfulQA), or how it is chosen among `candidates`:
            the bend in the curve of squared distances (`elbow`), or the highest `silhouette`.
        candidates: increasing numbers of clusters to try.
        seed: seed of the fits. Clusters are fitted once per pool; repeats draw inside them.
        starts: number of runs of k-means; the best one is used.
        neighbours: neighbours of each item in the graph of spectral clustering.
        lda: input of LDA: `tfidf` as in the paper, or word `counts`, for which LDA is designed.
        most_words: maximum size of the vocabulary, by frequency.
        silhouette_items, map_items: maximum number of items for the silhouette and the t-SNE map.
    """

    k: Literal["elbow", "silhouette"] | Annotated[int, Field(ge=1)] = "elbow"
    candidates: Annotated[
        tuple[Annotated[int, Field(ge=2)], ...], Field(min_length=3), Increasing
    ] = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16)
    seed: int = Field(default=0, ge=0)
    starts: int = Field(default=3, ge=1)
    neighbours: int = Field(default=10, ge=1)
    lda: Literal["tfidf", "counts"] = "tfidf"
    most_words: int = Field(default=10_000, ge=1)
    silhouette_items: int = Field(default=2000, ge=10)
    map_items: int = Field(default=1500, ge=10)
    dbscan: DbscanParams = DbscanParams()


Rate = Annotated[float, Field(gt=0, le=100)]


class SamplingEvidenceParams(Section):
    """The evaluation of samplers (docs/reference/sampling.md).

    Attributes:
        answered_by: use items that at least this share of the models answered.
        min_coverage: use models that answered at least this share of those items.
        at_rates: percentages of the items at which samplers are tested against random subsets;
            the headline shows the middle one.
        random_subsets: minimum number of random subsets of each size; more are drawn if the
            correction for multiple tests requires smaller p-values.
        band_subsets: number of random subsets for the band at each rate of the curves.
        random_draws: minimum number of draws of `random`, whose mean is the baseline of gains.
        choice_repeats: maximum number of draws of each sampler for the choice by each split.
        keep: the rank correlation that defines the smallest sufficient rate.
        estimate_items: size of the subsets for score estimation, at most a quarter of the items.
        estimate_subsets: number of random subsets of this size.
        paper_best, paper_step: the paper's panel is every `paper_step`-th of the `paper_best`
            models by published score.
        paper_models: minimum size of this panel on the items that all of its models answered.
        by_subject: also choose a sampler inside each subject.
        subject_items: minimum number of items of a subject for this.
    """

    answered_by: float = Field(default=0.5, ge=0, le=1)
    min_coverage: float = Field(default=0.95, gt=0, le=1)
    at_rates: Annotated[tuple[Rate, ...], Field(min_length=1), Increasing] = (5.0, 10.0, 25.0)
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


class ChosenSubsetParams(Section):
    """The exported subset.

    Attributes:
        sampler: a name, or `chosen` for the one chosen by the responses of all models.
        size: number of items; null takes `rate` percent of the items.
        seed: seed of the draw.
    """

    sampler: str = "random"
    size: int | None = Field(default=None, ge=1)
    rate: Rate = 10.0
    seed: int = Field(default=0, ge=0)


class SamplingParams(Section):
    """Samplers and their input (DELE, section 3.1).

    Attributes:
        samplers: names in `methods/dele/samplers/registry.py`, joined by `+` in `--params`, or
            `all`.
        rates: increasing percentages of the items.
        repeats: draws of each sampler, each with its own seed.
        within_subject: run each sampler inside each subject, with proportional quotas.
        feature_text: the text that features and encoders use.
        encoders: encoders under `models.encoders` whose vectors are clustered.
        cpd: whether the three parts of the compound probability distribution are `standardised`
            over the items, or `raw` as in the paper.
        clustering: settings of the samplers that cluster texts.
        anchors: settings of the samplers that read responses.
        adaptive: choice of a sampler for the benchmark.
        evidence: evaluation of the samplers.
        export: the exported subset.
        published_scores: CSV or Parquet file with columns `name` and `avg`: leaderboard scores
            that determine the paper's panel; relative to `mirror_root`/responses, or absolute.
        tokenizer: a model under `models.models` whose tokenizer counts the items' tokens; null
            counts four characters as a token.
    """

    samplers: Annotated[Names, Field(min_length=1)] = ("all",)
    rates: Annotated[tuple[Rate, ...], Field(min_length=1), Increasing] = tuple(
        float(rate) for rate in range(1, 101)
    )
    repeats: int = Field(default=20, ge=1)
    within_subject: bool = False
    feature_text: Literal["question", "question_and_choices"] = "question"
    encoders: Names = ("all-minilm-l6-v2",)
    cpd: Literal["standardised", "raw"] = "standardised"
    clustering: ClusteringParams = ClusteringParams()
    anchors: AnchorParams = AnchorParams()
    adaptive: AdaptiveParams = AdaptiveParams()
    evidence: SamplingEvidenceParams = SamplingEvidenceParams()
    export: ChosenSubsetParams = ChosenSubsetParams()
    published_scores: str | None = None
    tokenizer: str | None = None

    @field_validator("samplers")
    @classmethod
    def _all_alone(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if "all" in value and len(value) > 1:
            raise ValueError("`all` cannot be combined with names of samplers")
        return value


class EstimationParams(Section):
    """The `estimation` section (docs/explanation/estimation.md).

    Attributes:
        level: target coverage of intervals.
        folds: number of folds of the training models. Each fold is estimated from the others; the
            errors give the intervals of p_irt, gp_irt, ridge and of weighted subsets.
        neighbours: number of training models with the most similar estimates whose errors give an
            interval; all if there are fewer.
        forward_share: share of the best training models. They are estimated from the others; the
            errors apply to new models that are better than all training models.
        penalty: penalty of the ridge regression of aipw, per training model.
        interval: interval of p_irt: `calibrated` by errors on training models, or that of the
            `model`, which is too narrow on real responses.
    """

    level: float = Field(default=0.95, gt=0, lt=1)
    folds: int = Field(default=5, ge=2)
    neighbours: int = Field(default=200, ge=20)
    forward_share: float = Field(default=0.3, gt=0, lt=1)
    penalty: float = Field(default=0.01, gt=0)
    interval: Literal["calibrated", "model"] = "calibrated"
