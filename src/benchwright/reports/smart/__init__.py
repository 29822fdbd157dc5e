"""The report: what it says (`summary`, `evidence`, `provenance`) and how it is put on a page."""
