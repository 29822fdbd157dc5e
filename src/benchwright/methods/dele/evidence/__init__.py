"""Comparison of samplers with random subsets on held-out models."""
