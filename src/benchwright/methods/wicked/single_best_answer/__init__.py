"""Items with a single best answer: more than one option is defensible (WiCkeD, 3.2)."""
