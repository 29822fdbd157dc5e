"""Ingestion: map a benchmark's rows to items, and set unusable rows aside with the reason."""

from benchwright.pipelines.ingestion.pipeline import create_pipeline

__all__ = ["create_pipeline"]
