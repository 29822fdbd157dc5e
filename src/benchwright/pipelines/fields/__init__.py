"""One of 14 fields for each clean item (MMLU-CF, section 3.1)."""

from benchwright.pipelines.fields.pipeline import create_pipeline

__all__ = ["create_pipeline"]
