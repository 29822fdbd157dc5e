"""The commands other than `run`: plan, estimate, diff, sweep, evaluate-sealed, new."""
