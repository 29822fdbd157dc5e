"""How many items a purpose takes, from answers that exist (docs/how_to/plan.md)."""
