"""Rows of a benchmark's source, read as its field mapping says."""
