"""Exports: the benchmark, and what a variant keeps of it, as tasks for other harnesses."""

from benchwright.pipelines.exports.pipeline import create_pipeline

__all__ = ["create_pipeline"]
