"""Sweeps: one pipeline over benchmarks, variants and seeds, with one summary."""
