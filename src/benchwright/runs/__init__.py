"""Runs of a project: their settings, their records, what they saved, and MLflow."""
