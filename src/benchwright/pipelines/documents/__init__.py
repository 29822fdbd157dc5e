"""An open benchmark from documents: clean questions, saved in the clear."""

from benchwright.pipelines.documents.pipeline import create_pipeline

__all__ = ["create_pipeline"]
