"""Comparison of scores on perturbed copies with those on the original."""

from benchwright.pipelines.comparison.pipeline import create_pipeline

__all__ = ["create_pipeline"]
