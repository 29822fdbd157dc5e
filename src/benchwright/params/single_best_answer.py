"""Settings of the detection of single-best-answer items."""

from typing import Literal, Self

from pydantic import Field, model_validator

from benchwright.params.section import Section


class JudgeParams(Section):
    """A chat model that labels items (WiCkeD, appendix A)."""

    model: str | None = None  # its name under `models.models`
    # the item with its options, or the paper's prompt, with the question alone (WiCkeD, Table 4)
    prompt: Literal["options", "paper"] = "options"
    # to label by `sba` besides those in the labels file, at most; None labels all
    items: int | None = Field(default=400, ge=0)


class FineTuningParams(Section):
    """A pretrained encoder with a classification head (WiCkeD, appendix A)."""

    model: str | None = None  # a folder or a hub id that `AutoModelForSequenceClassification` loads
    revision: str | None = None  # commit of a hub id


class SingleBestAnswerParams(Section):
    """Labels, classifier and operating point."""

    # from the `file`, a chat model (`judge`), or `both` (the file takes precedence)
    labels: Literal["file", "judge", "both"] = "file"
    judge: JudgeParams = JudgeParams()  # the chat model
    # an encoder whose last layer and head are trained, or a classifier whose own class decides
    kind: Literal["bert", "hub"] = "bert"
    fine_tuning: FineTuningParams = FineTuningParams()
    recall: float = Field(default=0.989, gt=0, le=1)  # which sets the threshold of `bert`
    folds: int = Field(default=5, ge=2, le=20)  # of the cross-validation that chooses the threshold

    @model_validator(mode="after")
    def _models_are_named(self) -> Self:
        if self.labels != "file" and self.judge.model is None:
            raise ValueError(f"labels: {self.labels} needs judge.model, a name under models.models")
        return self
