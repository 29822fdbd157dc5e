"""The same items seen by several encoders: which do they call similar?"""

from benchwright.pipelines.encoders.pipeline import create_pipeline

__all__ = ["create_pipeline"]
