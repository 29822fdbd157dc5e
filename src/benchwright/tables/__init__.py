"""The tables between stages, as Pandera models, a module per method.

Columns have the given order; identifiers are strings. A table that a later stage needs must not be
empty (`NotEmpty`), so that the version of a failed run is never taken for a result.
"""
