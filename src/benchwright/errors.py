"""Errors that are the user's to mend: one line, no traceback."""


class InputError(ValueError):
    """Bad input or configuration. The message names file, row, field, value and what would do."""
