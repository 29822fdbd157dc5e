"""Samplers: methods that choose subsets (DELE / SubLIME; docs/reference/sampling.md)."""
