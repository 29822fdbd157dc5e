"""What leaves the project: tasks of lm-evaluation-harness, subsets, instructions."""
