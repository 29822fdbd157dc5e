"""Extraction of questions from documents (MMLU-CF, section 3.2, step 1)."""

from benchwright.pipelines.collection.pipeline import create_pipeline

__all__ = ["create_pipeline"]
