"""The plots of the sampling report."""
