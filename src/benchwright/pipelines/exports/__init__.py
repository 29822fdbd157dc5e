"""Exports: a benchmark, what is kept of it, and its draws, as tasks for other harnesses."""

from benchwright.pipelines.exports.pipeline import create_draws_pipeline, create_pipeline

__all__ = ["create_draws_pipeline", "create_pipeline"]
