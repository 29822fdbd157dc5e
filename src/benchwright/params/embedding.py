"""Parameters of the sentence embeddings (`embedding:` in conf)."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, field_validator

from benchwright.params.section import Section


def _names(given: Any) -> Any:
    """A list of names, also from the command line, where a comma would end the parameter."""
    return given.split("+") if isinstance(given, str) else given


class EmbeddingParams(Section):
    """Which encoder, and how it computes.

    Attributes:
        enabled: False encodes nothing (for variants that use no embeddings).
        encoder: its name under `models.encoders`.
        compare: encoders that the pipeline `encoders` compares; as one text, joined by `+`.
        dtype: `auto` is bfloat16 where the processor computes in it, float32 elsewhere.
        device: `auto` takes a GPU where there is one.
    """

    enabled: bool = True
    encoder: str = "all-minilm-l6-v2"
    compare: Annotated[tuple[str, ...], BeforeValidator(_names)] = (
        "all-minilm-l6-v2",
        "smollm2-135m-last",
        "smollm2-135m-mean",
    )
    dtype: Literal["auto", "bfloat16", "float32"] = "auto"
    device: Literal["auto", "cpu", "cuda"] = "auto"

    @field_validator("compare")
    @classmethod
    def _each_once(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(value)) != len(value):
            raise ValueError("compare names an encoder twice")
        return value
