"""The comparison of encoders by the items that they call similar."""

from benchwright.pipelines.encoders.pipeline import create_pipeline

__all__ = ["create_pipeline"]
