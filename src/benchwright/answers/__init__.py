"""Answers of models: from files and live, joined to items, as one table."""
