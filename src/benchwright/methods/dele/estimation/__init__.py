"""A model's score on the whole benchmark from its answers to some items."""
