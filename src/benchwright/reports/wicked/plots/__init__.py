"""The figures of the comparison, as Plotly figures."""
