"""Metrics, plots and the report about a refined benchmark."""

from benchwright.pipelines.evaluation.pipeline import create_pipeline

__all__ = ["create_pipeline"]
