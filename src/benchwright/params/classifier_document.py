"""`classifier.json` of the single-best-answer classifier, as it is checked when it is read."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from benchwright.params.single_best_answer import FeatureGroup, FineTuningParams

Share = Annotated[float, Field(ge=0, le=1)]
# JSON as Python writes it has NaN, for shares of nothing.
ShareOrNan = Annotated[float, Field(allow_inf_nan=True)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class LogisticDocument(_Part):
    """A regression on k features: k means, k scales above 0, k coefficients; all finite."""

    features: list[str]
    means: list[FiniteFloat]
    scales: list[Annotated[FiniteFloat, Field(gt=0)]]
    coefficients: list[FiniteFloat]
    intercept: FiniteFloat

    @model_validator(mode="after")
    def _fits(self) -> Self:
        k = len(self.features)
        for name in ("means", "scales", "coefficients"):
            if len(getattr(self, name)) != k:
                raise ValueError(f"{len(getattr(self, name))} {name} for {k} features")
        if len(set(self.features)) < k:
            raise ValueError("a feature is named twice")
        return self


class OperatingPointDocument(_Part):
    """A threshold and what it did to the items it was chosen on; shares are 0 to 1 or NaN."""

    target: Share
    threshold: Share
    recall: ShareOrNan
    precision: ShareOrNan
    share_flagged: ShareOrNan
    n: Annotated[int, Field(ge=0)]
    positives: Annotated[int, Field(ge=0)]
    reason: str

    @model_validator(mode="after")
    def _are_shares(self) -> Self:
        for name in ("recall", "precision", "share_flagged"):
            value = getattr(self, name)
            if value < 0 or value > 1:  # NaN is neither
                raise ValueError(f"{name} is {value}; a share is 0 to 1")
        return self


class TrainedOnDocument(_Part):
    """The labelled items that it was trained on."""

    items: Annotated[int, Field(ge=0)]
    positives: Annotated[int, Field(ge=0)]
    benchmarks: dict[str, Annotated[int, Field(ge=0)]]
    labels: Literal["file", "judge", "both"]


class ClassifierDocument(_Part):
    """All that the pipeline `sba` writes; `logistic` is of the kind `embedding` alone."""

    kind: Literal["embedding", "bert", "hub"]
    recall_target: Annotated[float, Field(gt=0, le=1)]
    groups: list[FeatureGroup] = []
    encoder: str | None = None
    encoder_key: str | None = None
    logistic: LogisticDocument | None = None
    fine_tuning: FineTuningParams | None = None
    threshold: Share
    operating_points: list[OperatingPointDocument]
    trained_on: TrainedOnDocument

    @model_validator(mode="before")
    @classmethod
    def _has_what_its_kind_needs(cls, told: Any) -> Any:
        if not isinstance(told, dict):
            return told
        own = ("groups", "encoder", "encoder_key", "logistic")
        needed = {"embedding": own, "bert": ("fine_tuning",), "hub": ("fine_tuning",)}
        kind = str(told.get("kind"))
        if missing := [name for name in needed.get(kind, ()) if name not in told]:
            raise ValueError(f"{missing[0]} is missing")
        return told

    @model_validator(mode="after")
    def _belongs_together(self) -> Self:
        if self.kind == "embedding" and self.logistic is None:
            raise ValueError("logistic is null")
        if self.kind != "embedding" and self.fine_tuning is None:
            raise ValueError("fine_tuning is null")
        if (self.encoder is None) != (self.encoder_key is None):
            raise ValueError("encoder and encoder_key are given together or not at all")
        return self
