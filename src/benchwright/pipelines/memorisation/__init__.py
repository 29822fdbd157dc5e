"""Which models write a question's options without having seen them."""

from benchwright.pipelines.memorisation.pipeline import create_pipeline

__all__ = ["create_pipeline"]
