"""Prompts as text: demonstrations, conditions, styles."""
