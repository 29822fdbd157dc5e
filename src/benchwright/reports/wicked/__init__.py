"""The report of perturbed benchmarks: one HTML page."""
