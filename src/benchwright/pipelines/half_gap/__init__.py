"""Comparison of models on the two halves of a sealed benchmark, to see whether one leaked."""

from benchwright.pipelines.half_gap.pipeline import create_pipeline

__all__ = ["create_pipeline"]
