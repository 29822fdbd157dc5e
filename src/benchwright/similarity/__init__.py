"""Similarity of items in meaning: vectors, neighbours and the threshold."""
