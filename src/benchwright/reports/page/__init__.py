"""One self-contained HTML page for a report: its shell, look, parts and provenance."""
