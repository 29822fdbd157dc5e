"""The plots of the comparison, in Plotly."""
