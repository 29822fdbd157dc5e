"""The standing monitor of a sealed benchmark: does its public half look leaked?"""

from benchwright.pipelines.half_gap.pipeline import create_pipeline

__all__ = ["create_pipeline"]
