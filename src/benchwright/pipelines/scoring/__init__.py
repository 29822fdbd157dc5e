"""Scoring: prompts, and log-likelihoods or answers of models."""

from benchwright.pipelines.scoring.pipeline import (
    create_answering_pipeline,
    create_budget_pipeline,
    create_pipeline,
    create_recording_pipeline,
)

__all__ = [
    "create_answering_pipeline",
    "create_budget_pipeline",
    "create_pipeline",
    "create_recording_pipeline",
]
