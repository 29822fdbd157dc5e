"""Ingestion: map a benchmark's rows to items, and report rejected rows."""

from benchwright.pipelines.ingestion.pipeline import create_pipeline

__all__ = ["create_pipeline"]
