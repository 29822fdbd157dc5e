"""Which samplers run, at which rates, and how they are judged (`sampling:` in conf)."""

from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from benchwright.params.section import Section

Criterion = Literal[
    "spearman", "tau_b", "pearson", "wasserstein", "mean_absolute_error", "variance"
]


class AdaptiveParams(Section):
    """Choice among samplers by how they keep ranks and scores (DELE, Algorithm 1).

    Attributes:
        lowest_rate, highest_rate: percent of the items between which samplers are compared.
        min_correlation: Spearman's that a sampler must reach at each of these rates, in the mean
            over repeats.
        criteria: what samplers are ranked by; the best mean place wins. `variance` is that of the
            models' mean score over repeats.
        splits: of the models into those that choose and those that judge.
        selection_share: of the models that choose, 0–1.
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
                f"highest_rate ({self.highest_rate:g}) is below lowest_rate ({self.lowest_rate:g})"
            )
        return self


class AnchorParams(Section):
    """How answers choose items.

    Attributes:
        algorithm: of the clusters that anchors stand for. `ward` builds one tree for all sizes;
            `kmeans` (tinyBenchmarks) is fitted anew for each size.
        components: principal components of the answers that anchor points are clustered on; they
            bound the time where thousands of models answered.
        starts: of k-means, of which the best is kept.
        steps: of k-means at most.
        seed: of k-means. Clusters are made once per pool; repeats settle ties.
        discrimination: how well an item tells models apart: its correlation with the score on the
            other items (`rest_score`), or the slope of the two-parameter model (`2pl`).
        hardness: power of the share of wrong answers that an item's chance to be drawn by
            difficulty goes with; 0 is random.
    """

    algorithm: Literal["ward", "kmeans"] = "ward"
    components: int = Field(default=64, ge=1)
    starts: int = Field(default=3, ge=1)
    steps: int = Field(default=100, ge=1)
    seed: int = Field(default=0, ge=0)
    discrimination: Literal["rest_score", "2pl"] = "rest_score"
    hardness: float = Field(default=1.0, ge=0)


class DbscanParams(Section):
    """DBSCAN as printed (DELE, appendix A.4).

    Attributes:
        tfidf_eps: radius in cosine distance, on TF-IDF.
        tfidf_min_samples: items within the radius, itself included, that make a core item.
        dense_eps: radius in Euclidean distance, on sentence vectors. Vectors here have length 1 and
            are at most 2 apart: 1.7 reaches all but those of cosine below −0.445, and so makes
            one cluster of nearly any benchmark.
        dense_min_samples: as above.
        leaf_size: of the ball tree; it changes the time, not the result.
    """

    tfidf_eps: float = Field(default=0.003, gt=0, le=2)
    tfidf_min_samples: int = Field(default=3, ge=1)
    dense_eps: float = Field(default=1.7, gt=0)
    dense_min_samples: int = Field(default=5, ge=1)
    leaf_size: int = Field(default=90, ge=1)


class ClusteringParams(Section):
    """How items are clustered by their texts (DELE, section 3.1 and appendix A.1, A.4).

    Attributes:
        k: number of clusters (the paper's 8 on TruthfulQA), or how it is chosen among
            `candidates`: where the curve of squared distances bends (`elbow`), or where the
            silhouette is highest.
        candidates: numbers of clusters that are tried, rising.
        seed: of the fits. A clustering is fitted once per pool; repeats draw inside its clusters.
        starts: of k-means, of which the best is kept.
        neighbours: of each item in the graph of spectral clustering.
        lda: what LDA reads: `tfidf` as the paper has it, or the `counts` that it is made for.
        most_words: of the vocabulary; the most frequent stay.
        silhouette_items: items of which the silhouette is computed at most.
        map_items: items on the t-SNE map at most.
    """

    k: Literal["elbow", "silhouette"] | Annotated[int, Field(ge=1)] = "elbow"
    candidates: tuple[Annotated[int, Field(ge=2)], ...] = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16)
    seed: int = Field(default=0, ge=0)
    starts: int = Field(default=3, ge=1)
    neighbours: int = Field(default=10, ge=1)
    lda: Literal["tfidf", "counts"] = "tfidf"
    most_words: int = Field(default=10_000, ge=1)
    silhouette_items: int = Field(default=2000, ge=10)
    map_items: int = Field(default=1500, ge=10)
    dbscan: DbscanParams = DbscanParams()

    @field_validator("candidates")
    @classmethod
    def _rising(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if len(value) < 3 or list(value) != sorted(set(value)):
            raise ValueError("candidates must be at least three numbers that rise, each once")
        return value


Rate = Annotated[float, Field(gt=0, le=100)]


class SamplingEvidenceParams(Section):
    """What samplers are compared with, and by whom (docs/reference/sampling.md).

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


class ChosenSubsetParams(Section):
    """The subset that is handed on.

    Attributes:
        sampler: its name, or `chosen`: the one that all models' answers choose.
        size: number of items; where it is null, `rate` decides.
        rate: percent of the items.
        seed: of the draw.
    """

    sampler: str = "random"
    size: int | None = Field(default=None, ge=1)
    rate: Rate = 10.0
    seed: int = Field(default=0, ge=0)


def _names(given: Any) -> Any:
    """A list of names, also from the command line, where a comma would end the parameter."""
    return given.split("+") if isinstance(given, str) else given


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


class SamplingParams(Section):
    """Samplers and what they read (DELE, section 3.1).

    Attributes:
        samplers: names of `methods/dele/samplers/registry.py`; as one text, joined by `+`; `all`
            alone runs every one.
        rates: percent of the items, increasing.
        repeats: draws of each sampler, each with a seed of its own.
        within_subject: each sampler runs inside each subject, under quotas.
        feature_text: what features and encoders read of an item.
        encoders: encoders under `models.encoders` whose vectors are clustered.
        cpd: the three parts of the compound probability distribution, each standardised over the
            items, or raw as the paper prints them.
        clustering: settings of the samplers that cluster texts.
        anchors: settings of the samplers that read answers.
        adaptive: how a sampler is chosen for the benchmark.
        evidence: how samplers are judged.
        export: the subset that is handed on.
        published_scores: CSV or Parquet file with columns `name` and `avg`, scores of a leaderboard
            by which the paper's panel is chosen; below `mirror_root`/responses, or a full path.
        tokenizer: a name under `models.models` whose tokenizer counts the items' tokens; null
            takes a token for four characters.
    """

    samplers: Names = ("all",)
    rates: tuple[Rate, ...] = tuple(float(rate) for rate in range(1, 101))
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

    @field_validator("samplers", "encoders")
    @classmethod
    def _each_once(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(value)) != len(value):
            raise ValueError("a name stands twice")
        return value

    @field_validator("samplers")
    @classmethod
    def _some(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value or ("all" in value and len(value) > 1):
            raise ValueError("name at least one sampler, or `all` alone")
        return value

    @field_validator("rates")
    @classmethod
    def _increasing(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if not value or any(low >= high for low, high in pairwise(value)):
            raise ValueError("rates must be increasing, at least one")
        return value
