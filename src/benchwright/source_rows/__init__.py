"""Read rows of a benchmark's source by its field mapping."""
