"""WiCkeD: single-best-answer items, and models compared on original and perturbed items."""
