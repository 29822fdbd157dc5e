"""Exports: a benchmark, kept items, draws and subsets as tasks for other harnesses."""

from benchwright.pipelines.exports.pipeline import (
    create_draws_pipeline,
    create_pipeline,
    create_subset_pipeline,
)

__all__ = ["create_draws_pipeline", "create_pipeline", "create_subset_pipeline"]
