"""Judges on questions: difficulty, a sample by it, and checks."""

from benchwright.pipelines.judging.pipeline import (
    create_benchmark_pipeline,
    create_final_pipeline,
    create_pipeline,
)

__all__ = ["create_benchmark_pipeline", "create_final_pipeline", "create_pipeline"]
