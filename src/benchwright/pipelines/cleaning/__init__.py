"""Cleaning of raw items rule by rule (MMLU-CF, section 3.2, step 2)."""

from benchwright.pipelines.cleaning.pipeline import create_pipeline

__all__ = ["create_pipeline"]
