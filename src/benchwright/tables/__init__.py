"""The tables that cross a stage, as Pandera models, a module per method.

Every table has its columns in the order given there; identifiers are strings. A table that a later
stage cannot do without refuses to be empty (`NotEmpty`), so that the version left by a failed run
never passes for a result.
"""
