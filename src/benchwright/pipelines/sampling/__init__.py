"""Few items for a benchmark, from answers that exist, proved on models that did not choose them."""

from benchwright.pipelines.sampling.pipeline import (
    NO_ANSWERS,
    create_answers_pipeline,
    create_pipeline,
)

__all__ = ["NO_ANSWERS", "create_answers_pipeline", "create_pipeline"]
