"""SMART filtering: rules, verdicts and kept items."""

from benchwright.pipelines.filtering.pipeline import create_pipeline

__all__ = ["create_pipeline"]
