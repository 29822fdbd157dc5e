"""Exports: tasks of lm-evaluation-harness, subsets, instructions."""
