"""The comparison of which items several encoders call similar."""

from benchwright.pipelines.encoders.pipeline import create_pipeline

__all__ = ["create_pipeline"]
