"""Plots of the comparison."""
