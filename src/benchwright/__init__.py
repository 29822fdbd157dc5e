"""Make multiple-choice benchmarks smaller, cleaner, harder and leak-resistant, with evidence."""

from benchwright.core.stopping import follow_parent_in_workers

__version__ = "0.1.0"

follow_parent_in_workers()
