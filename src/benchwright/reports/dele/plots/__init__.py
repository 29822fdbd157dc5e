"""The figures of the sampling report."""
