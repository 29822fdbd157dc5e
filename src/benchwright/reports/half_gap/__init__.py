"""The page about the gap between the public and the closed half."""
