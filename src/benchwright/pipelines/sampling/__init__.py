"""Small subsets of a benchmark from recorded responses, tested on held-out models."""

from benchwright.pipelines.sampling.pipeline import (
    NO_RESPONSES,
    create_pipeline,
    create_responses_pipeline,
)

__all__ = ["NO_RESPONSES", "create_pipeline", "create_responses_pipeline"]
