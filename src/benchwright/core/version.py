"""The version of this package, as installed."""

from importlib.metadata import version

VERSION = version("benchwright")
