"""The page about what models remember."""
