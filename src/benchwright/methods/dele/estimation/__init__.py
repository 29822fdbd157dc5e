"""Estimators of a model's score on all items from its responses to a subset."""
