"""Exports of benchmarks, kept items, perturbed copies and subsets as harness tasks."""

from benchwright.pipelines.exports.pipeline import (
    create_perturbed_pipeline,
    create_pipeline,
    create_subset_pipeline,
)

__all__ = ["create_perturbed_pipeline", "create_pipeline", "create_subset_pipeline"]
