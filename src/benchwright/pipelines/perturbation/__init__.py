"""Altered copies of the items and of the demonstrations shown with them."""

from benchwright.pipelines.perturbation.pipeline import create_pipeline

__all__ = ["create_pipeline"]
