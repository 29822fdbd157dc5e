"""Kedro hooks with one job each; settings.py lists them in the order of their calls."""
