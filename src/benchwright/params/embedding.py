"""Settings of the sentence embeddings (`embedding:` in conf)."""

from typing import Literal

from benchwright.params.section import Names, Section


class EmbeddingParams(Section):
    """The encoder and how it computes.

    Attributes:
        enabled: False encodes nothing (for variants without embeddings).
        encoder: its name under `models.encoders`.
        compare: encoders that the pipeline `encoders` compares; joined by `+` in `--params`.
        dtype: `auto` is bfloat16 if the processor supports it, else float32.
        device: `auto` uses a GPU if there is one.
    """

    enabled: bool = True
    encoder: str = "all-minilm-l6-v2"
    compare: Names = ("all-minilm-l6-v2", "smollm2-135m-last", "smollm2-135m-mean")
    dtype: Literal["auto", "bfloat16", "float32"] = "auto"
    device: Literal["auto", "cpu", "cuda"] = "auto"
