"""Benchwright: smaller, cleaner, harder, leak-resistant benchmarks, with the evidence."""

from benchwright.core.stopping import follow_parent_in_workers

__version__ = "0.1.0"

follow_parent_in_workers()
