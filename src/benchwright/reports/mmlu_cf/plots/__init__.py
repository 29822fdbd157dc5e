"""The figures of a benchmark in the making, as Plotly figures."""
