"""Responses: recorded and live answers, joined to items and put into matrices."""

from benchwright.pipelines.responses.pipeline import create_pipeline

__all__ = ["create_pipeline"]
