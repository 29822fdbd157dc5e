"""The report of samplers: one HTML page."""
