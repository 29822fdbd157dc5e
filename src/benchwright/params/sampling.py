"""Which samplers run, at which rates (`sampling:` in conf)."""

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from benchwright.params.adaptive import AdaptiveParams
from benchwright.params.anchors import AnchorParams
from benchwright.params.clustering import ClusteringParams
from benchwright.params.sampling_evidence import ChosenSubsetParams, SamplingEvidenceParams


def _names(given: Any) -> Any:
    """A list of names, also from the command line, where a comma would end the parameter."""
    return given.split("+") if isinstance(given, str) else given


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
Rate = Annotated[float, Field(gt=0, le=100)]


class SamplingParams(BaseModel):
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

    model_config = ConfigDict(extra="forbid", frozen=True)

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
