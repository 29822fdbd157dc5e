"""Answers of models to original and perturbed items, compared."""
