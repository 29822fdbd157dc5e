"""Recorded and live answers, joined to items and brought into matrices."""

from benchwright.pipelines.responses.pipeline import create_pipeline

__all__ = ["create_pipeline"]
