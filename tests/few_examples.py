"""Fewer examples for property tests of which each example takes much time."""

from hypothesis import settings

few_examples = settings(max_examples=settings.default.max_examples // 4)
