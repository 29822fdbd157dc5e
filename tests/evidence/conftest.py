"""A small benchmark with all inputs of the evaluation stage."""

from refined_benchmark import report, run, small

__all__ = ["report", "run", "small"]
