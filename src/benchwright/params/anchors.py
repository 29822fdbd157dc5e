"""Parameters of the samplers that read models' answers (`sampling.anchors:` in conf)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class AnchorParams(BaseModel):
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

    model_config = ConfigDict(extra="forbid", frozen=True)

    algorithm: Literal["ward", "kmeans"] = "ward"
    components: int = Field(default=64, ge=1)
    starts: int = Field(default=3, ge=1)
    steps: int = Field(default=100, ge=1)
    seed: int = Field(default=0, ge=0)
    discrimination: Literal["rest_score", "2pl"] = "rest_score"
    hardness: float = Field(default=1.0, ge=0)
