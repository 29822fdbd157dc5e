"""Decisions on models from their answers: numbers and sentences."""
