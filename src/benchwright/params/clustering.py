"""Parameters of the samplers that cluster items by their texts (`sampling.clustering:` in conf)."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DbscanParams(_Section):
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


class ClusteringParams(_Section):
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
