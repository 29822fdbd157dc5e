"""What each step of the construction did, in tables."""
