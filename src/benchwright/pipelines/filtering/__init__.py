"""SMART filtering: which items go, and why."""

from benchwright.pipelines.filtering.pipeline import create_pipeline

__all__ = ["create_pipeline"]
