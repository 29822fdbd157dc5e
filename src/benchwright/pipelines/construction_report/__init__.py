"""The report of a benchmark made from documents: plots, metrics and one page, without texts."""

from benchwright.pipelines.construction_report.pipeline import create_pipeline

__all__ = ["create_pipeline"]
