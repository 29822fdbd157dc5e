"""Sentence embeddings of the items."""

from benchwright.pipelines.embedding.pipeline import create_pipeline

__all__ = ["create_pipeline"]
