"""Shared foundations: hashes, seeds, order, errors, the response matrix, atomic files."""
