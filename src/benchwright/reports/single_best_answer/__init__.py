"""The card of a classifier of single-best-answer items."""
