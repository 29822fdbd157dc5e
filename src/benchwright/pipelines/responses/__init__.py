"""Responses: join recorded and live responses to items, and build matrices."""

from benchwright.pipelines.responses.pipeline import create_pipeline

__all__ = ["create_pipeline"]
