"""Samplers compared with random subsets on models that chose nothing."""
