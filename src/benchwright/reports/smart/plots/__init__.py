"""The figures of the report, as Plotly figures."""
