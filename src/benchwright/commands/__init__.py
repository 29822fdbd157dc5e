"""The commands besides `run`: plan, estimate, diff, sweep, evaluate-sealed and new."""
