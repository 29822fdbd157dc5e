"""Judges on questions made from documents: difficulty, a sample by it, and checks."""

from benchwright.pipelines.judging.pipeline import create_final_pipeline, create_pipeline

__all__ = ["create_final_pipeline", "create_pipeline"]
