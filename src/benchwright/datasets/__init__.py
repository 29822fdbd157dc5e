"""Kedro datasets of this project, named in the catalog."""
