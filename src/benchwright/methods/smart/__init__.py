"""SMART filtering: one module per rule, how the rules combine, and the audit of every item."""
