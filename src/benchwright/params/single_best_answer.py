"""Settings of the detection of single-best-answer items, and the schema of `classifier.json`."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from benchwright.params.section import Distinct, Section

FeatureGroup = Literal["surface", "closeness", "question", "options"]


class JudgeParams(Section):
    """A chat model that labels items (WiCkeD, appendix A)."""

    model: str | None = None  # its name under `models.models`
    # `options` shows the item with its options; `paper` is the paper's prompt, with the question
    # alone (WiCkeD, Table 4)
    prompt: Literal["options", "paper"] = "options"
    # of the pipeline `sba`: maximum number of items to label besides those in the labels file;
    # None labels all
    items: int | None = Field(default=400, ge=0)
    # maximum number of attempts until a label can be read
    attempts: int = Field(default=3, ge=1, le=20)
    temperature: float = Field(default=0.7, gt=0, le=2)  # of all attempts but the first
    max_tokens: int = Field(default=16, ge=1)  # maximum length of a reply


class FineTuningParams(Section):
    """A pretrained encoder with a classification head (WiCkeD, appendix A)."""

    model: str | None = None  # a folder or a hub id that `AutoModelForSequenceClassification` loads
    revision: str | None = None  # commit of a hub id
    # its input: the `question` alone, as in the paper, or the `options` too
    text: Literal["question", "options"] = "question"
    epochs: int = Field(default=2, ge=1)


class SingleBestAnswerParams(Section):
    """Labels, classifier and operating point."""

    # from the `file`, a chat model (`judge`), or `both` (the file takes precedence)
    labels: Literal["file", "judge", "both"] = "file"
    judge: JudgeParams = JudgeParams()  # the chat model
    # `embedding` is logistic regression on features of the item, `bert` a pretrained encoder whose
    # last layer and head are trained, `hub` a trained classifier, whose own class decides
    kind: Literal["embedding", "bert", "hub"] = "embedding"
    # sentence encoder of `embedding`, by its name under `models.encoders`
    encoder: str = "all-minilm-l6-v2"
    # input of the logistic regression (docs/reference/single_best_answer.md)
    features: Annotated[tuple[FeatureGroup, ...], Field(min_length=1), Distinct] = (
        *("surface", "closeness"),
    )
    strength: float = Field(default=0.1, gt=0)  # inverse of its L2 penalty
    fine_tuning: FineTuningParams = FineTuningParams()  # of `bert` and `hub`
    # target recall of single-best-answer items, which sets the threshold of `embedding` and `bert`
    # (98.9% in the paper)
    recall: float = Field(default=0.989, gt=0, le=1)
    # share of the labelled items kept for evaluation
    held_out: float = Field(default=0.25, gt=0, lt=1)
    folds: int = Field(default=5, ge=2, le=20)  # of the cross-validation that chooses the threshold
    # benchmarks whose labels are only used for evaluation
    leave_out: tuple[str, ...] = ("commonsense_qa",)

    @model_validator(mode="after")
    def _models_are_named(self) -> Self:
        if self.labels != "file" and self.judge.model is None:
            raise ValueError(f"labels: {self.labels} needs judge.model, a name under models.models")
        if self.kind != "embedding" and self.fine_tuning.model is None:
            raise ValueError(f"kind: {self.kind} needs fine_tuning.model, a folder or a hub id")
        return self


Share = Annotated[float, Field(ge=0, le=1)]
# Python's JSON has NaN, the share of an empty set.
ShareOrNan = Annotated[float, Field(allow_inf_nan=True)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class LogisticDocument(_Part):
    """A logistic regression on k features: k means, k scales above 0, and k coefficients."""

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
            raise ValueError("a feature is listed more than once")
        return self


class OperatingPointDocument(_Part):
    """A threshold and its metrics on the items that it was chosen on; shares are 0 to 1 or NaN."""

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
                raise ValueError(f"{name} is {value}; expected 0 to 1")
        return self


class TrainedOnDocument(_Part):
    """The labelled training items."""

    items: Annotated[int, Field(ge=0)]
    positives: Annotated[int, Field(ge=0)]
    benchmarks: dict[str, Annotated[int, Field(ge=0)]]
    labels: Literal["file", "judge", "both"]


class ClassifierDocument(_Part):
    """The file that the pipeline `sba` writes; `logistic` is for the kind `embedding` only."""

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

    @model_validator(mode="after")
    def _belongs_together(self) -> Self:
        if self.kind == "embedding" and not (self.logistic and self.groups):
            raise ValueError("logistic or groups is missing")
        if self.kind != "embedding" and self.fine_tuning is None:
            raise ValueError("fine_tuning is null")
        return self
