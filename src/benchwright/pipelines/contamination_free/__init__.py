"""The contamination-free rules, applied once to the checked questions."""

from benchwright.pipelines.contamination_free.pipeline import create_pipeline

__all__ = ["create_pipeline"]
