"""The commands beside `run`: plan, estimate, diff, sweep, evaluate-sealed, new."""
