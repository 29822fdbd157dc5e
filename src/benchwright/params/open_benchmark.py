"""What of a built benchmark is shown as examples (`open_benchmark:` in conf; docs/documents.md)."""

from pydantic import BaseModel, ConfigDict, Field


class OpenBenchmarkParams(BaseModel):
    """The file of an open benchmark.

    Attributes:
        demonstrations: the most questions of a field that are set aside as examples for prompts.
        demonstration_share: the largest share of a field that they may be, 0–1, so that a small
            field keeps most of its questions for evaluation.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    demonstrations: int = Field(default=5, ge=0)
    demonstration_share: float = Field(default=0.25, ge=0, lt=1)
