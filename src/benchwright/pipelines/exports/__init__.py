"""Exports: a benchmark, kept items, copies and subsets as tasks for other harnesses."""

from benchwright.pipelines.exports.pipeline import (
    create_perturbed_pipeline,
    create_pipeline,
    create_subset_pipeline,
)

__all__ = ["create_perturbed_pipeline", "create_pipeline", "create_subset_pipeline"]
