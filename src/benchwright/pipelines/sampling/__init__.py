"""Small subsets of a benchmark from recorded responses, tested on held-out models."""

from benchwright.pipelines.sampling.pipeline import (
    NO_ANSWERS,
    create_answers_pipeline,
    create_pipeline,
)

__all__ = ["NO_ANSWERS", "create_answers_pipeline", "create_pipeline"]
