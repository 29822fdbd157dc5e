"""Parameters of the sentence embeddings (`embedding:` in conf)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class EmbeddingParams(BaseModel):
    """Which encoder, and how it computes.

    Attributes:
        enabled: False encodes nothing (for variants that use no embeddings).
        encoder: its name under `models.encoders`.
        dtype: `auto` is bfloat16 where the processor computes in it, float32 elsewhere.
        device: `auto` takes a GPU where there is one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = True
    encoder: str = "all-minilm-l6-v2"
    dtype: Literal["auto", "bfloat16", "float32"] = "auto"
    device: Literal["auto", "cpu", "cuda"] = "auto"
