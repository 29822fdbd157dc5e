"""Scores on altered items beside those on the items as they were."""

from benchwright.pipelines.comparison.pipeline import create_pipeline

__all__ = ["create_pipeline"]
