"""Benchwright: smaller, cleaner, harder, leak-resistant benchmarks, with the evidence."""

__version__ = "0.1.0"
