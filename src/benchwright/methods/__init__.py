"""The four methods, a folder each. They do not import each other."""
