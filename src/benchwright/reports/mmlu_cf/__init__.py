"""The report of a benchmark made from documents: one HTML page."""
