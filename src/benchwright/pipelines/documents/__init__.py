"""An open benchmark from documents: clean questions, published in full."""

from benchwright.pipelines.documents.pipeline import create_pipeline

__all__ = ["create_pipeline"]
