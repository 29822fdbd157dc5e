"""The page about what judges say of a benchmark's items."""
