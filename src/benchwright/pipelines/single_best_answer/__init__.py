"""A classifier of single-best-answer items."""

from benchwright.pipelines.single_best_answer.pipeline import create_pipeline

__all__ = ["create_pipeline"]
