"""The plots of the report, in Plotly."""
