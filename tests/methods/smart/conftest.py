"""A small benchmark with all that the evaluation stage reads."""

from refined_benchmark import report, run, small

__all__ = ["report", "run", "small"]
