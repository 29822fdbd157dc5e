"""Transforms of items, so that memorised options do not answer them."""
