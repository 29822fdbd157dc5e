"""Files of recorded answers, and how raw scores become probabilities."""

from typing import Literal, Self, get_args

from pydantic import Field, field_validator, model_validator

from benchwright.params.section import Section

Style = Literal["", "letters", "cloze", "cloze_bytes", "cloze_tokens", "generate"]
TidyColumn = Literal[
    "item_id",
    "model",
    "condition",
    "style",
    "shots",
    "correct",
    "score",
    "prediction",
    "p_answer",
    "p_prediction",
    "logprobs",
    "option_bytes",
    "option_tokens",
    "question",
    "choices",
    "content_hash",
]
TIDY_COLUMNS: tuple[str, ...] = get_args(TidyColumn)
"""The columns that a tidy file may have; others are not read."""

FILE_TYPES = (".parquet", ".csv", ".csv.gz", ".jsonl")


class ResponseFileParams(Section):
    """One file of recorded answers, as a benchmark's `responses` list names it.

    Attributes:
        file: a bare file name ending in .parquet, .csv, .csv.gz or .jsonl.
        layout: `tidy` has a row per item and model, `wide` a table of items and models, `lm_eval`
            is a log of samples of lm-evaluation-harness (.jsonl); `auto` knows such a log by its
            keys, and takes a file with a model column and one for the item as tidy.
        orientation: what the rows of a wide file are; `auto` looks for a column `item_id` or
            `model`, then which side holds known item ids.
        values: cells of a wide file: right or wrong as 0–1, or the letter of the chosen option.
        condition: `question`, `choices_only`, … of rows that do not say.
        style: the style of rows that do not say; "" where unknown. Of a log of lm-eval: instead of
            what its continuations tell.
        shots: demonstrations shown, of rows that do not say; −1 where unknown. Of a log of
            lm-eval: instead of what the results file beside it says.
        model: only of a log of lm-eval: the model's name, instead of what the results file beside
            it says.
        columns: our name of a column → its name in the file, where they differ.
    """

    file: str
    layout: Literal["auto", "tidy", "wide", "lm_eval"] = "auto"
    orientation: Literal["auto", "items_by_models", "models_by_items"] = "auto"
    values: Literal["auto", "correct", "letters"] = "auto"
    condition: str = Field(default="question", min_length=1)
    style: Style = ""
    shots: int = Field(default=-1, ge=-1)
    model: str | None = Field(default=None, min_length=1)
    columns: dict[TidyColumn, str] = Field(default_factory=dict)

    @field_validator("file")
    @classmethod
    def _bare_name(cls, name: str) -> str:
        if "/" in name or "\\" in name or name.startswith("."):
            raise ValueError(f"{name!r} must be a bare file name, without folders")
        if not name.endswith(FILE_TYPES):
            raise ValueError(f"{name!r} must end in {', '.join(FILE_TYPES)}")
        return name

    @model_validator(mode="after")
    def _fits_the_layout(self) -> Self:
        if self.layout == "lm_eval" and not self.file.endswith(".jsonl"):
            raise ValueError(f"{self.file!r} must end in .jsonl for layout lm_eval")
        if self.layout == "lm_eval" and self.columns:
            raise ValueError("columns are for files of layout tidy or wide")
        if self.layout in ("tidy", "wide") and self.model is not None:
            raise ValueError("model is for logs of layout lm_eval; others have it in each row")
        return self


class ResponsesParams(Section):
    """The `responses` section of a variant.

    Attributes:
        calibrate_styles: styles whose softmax temperature is fitted on the calibration items; a
            softmax over log-likelihoods of texts is no probability until then. Others keep 1.
        min_calibration_rows: with fewer answered calibration items the temperature stays 1.
        min_temperature: lower bound of the fit.
        max_temperature: upper bound of the fit.
    """

    calibrate_styles: tuple[Literal["letters", "cloze", "cloze_bytes", "cloze_tokens"], ...] = (
        "cloze",
        "cloze_bytes",
        "cloze_tokens",
    )
    min_calibration_rows: int = Field(default=20, ge=2)
    min_temperature: float = Field(default=0.05, gt=0)
    max_temperature: float = Field(default=100.0, gt=0)

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        if self.min_temperature >= self.max_temperature:
            raise ValueError(
                f"min_temperature ({self.min_temperature}) must be below "
                f"max_temperature ({self.max_temperature})"
            )
        return self
