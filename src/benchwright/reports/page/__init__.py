"""Self-contained HTML pages of reports: layout, style, parts and provenance."""
