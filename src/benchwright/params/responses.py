"""Settings of files of recorded responses, and of calibration."""

import math
from typing import Literal, Self, get_args

from pydantic import Field, field_validator, model_validator

from benchwright.core.file_kinds import KINDS, kind_of
from benchwright.params.section import Section

Style = Literal["", "letters", "cloze", "cloze_bytes", "cloze_tokens", "generate"]
TidyColumn = Literal[
    "item_id", "model", "condition", "style", "shots", "correct", "score", "prediction",
    "p_answer", "p_prediction", "logprobs", "option_bytes", "option_tokens",
    "question", "choices", "content_hash", "repeat", "extraction",
]  # fmt: skip
TIDY_COLUMNS: tuple[str, ...] = get_args(TidyColumn)
"""The columns of a tidy file."""

TABLE_TYPES = KINDS
FILE_TYPES = (*TABLE_TYPES, ".eval")


class ResponseFileParams(Section):
    """One file of recorded responses in a benchmark's `responses` list, or logs on the hub."""

    file: str  # a bare file name ending in one of FILE_TYPES; with `hub`, a pattern of names
    # a dataset on the hub per model, `{model}` being `<owner>__<name>`; the newest run counts
    hub: str | None = Field(default=None, pattern=r"^[^/]+/[^/]*\{model\}[^/]*$")
    models: tuple[str, ...] = ()  # `<owner>/<name>`, perhaps with `@<revision>` of the dataset
    # a row per item and model, items × models, or the log of a tool; `auto` detects the layout
    layout: Literal["auto", "tidy", "wide", "log"] = "auto"
    # cells of a wide file: correctness, 0–1, or letters of chosen options
    values: Literal["auto", "correct", "letters"] = "auto"
    # condition, style ("" if unknown) and demonstrations (−1) of rows that do not say; style and
    # shots override what logs say
    condition: str = Field(default="question", min_length=1)
    style: Style = ""
    shots: int = Field(default=-1, ge=-1)
    scale: tuple[float, float] = (0.0, 1.0)  # scores outside are refused
    metric: str = ""  # of logs, "" for the only or main one
    filter: str = ""  # or scorer, likewise
    model: str | None = Field(default=None, min_length=1)  # of a log, in place of its name there
    columns: dict[TidyColumn, str] = Field(default_factory=dict)  # ours → the file's

    @field_validator("file")
    @classmethod
    def _bare_name(cls, name: str) -> str:
        if "/" in name or "\\" in name or name.startswith("."):
            raise ValueError(f"{name!r} must be a file name without folders")
        known = kind_of(name).kind in FILE_TYPES or name.lower().endswith((".zip", "*"))
        if not known:
            raise ValueError(f"{name!r} must end in {', '.join(FILE_TYPES)}")
        return name

    @model_validator(mode="after")
    def _fits_the_layout(self) -> Self:
        low, high = self.scale
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(f"scale {low:g}, {high:g}: expected the lowest and the highest score")
        if bool(self.hub) != bool(self.models):
            raise ValueError("hub and models are only given together")
        if self.layout == "log" and self.columns:
            raise ValueError("columns is only for the layouts tidy and wide")
        if self.layout in ("tidy", "wide") and self.model is not None:
            raise ValueError("model is only for layout log; other files name the model in each row")
        return self


class ResponsesParams(Section):
    """The `responses` section of a variant."""

    # of several answers (epochs, trials): the first, or the mean with the option chosen most often
    repeats: Literal["first", "mean"] = "first"
    # whose softmax temperature is fitted, as one over log-likelihoods of texts is not calibrated
    calibrate_styles: tuple[Literal["letters", "cloze", "cloze_bytes", "cloze_tokens"], ...] = (
        "cloze",
        "cloze_bytes",
        "cloze_tokens",
    )
