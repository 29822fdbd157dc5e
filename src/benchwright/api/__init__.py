"""The Python API: `answers` of files, and `functions` that do what the pipelines do."""
