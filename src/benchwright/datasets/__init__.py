"""Kedro datasets of this project; imported by name from the catalog."""
