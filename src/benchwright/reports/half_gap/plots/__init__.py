"""The figures of the gap, as Plotly figures."""
