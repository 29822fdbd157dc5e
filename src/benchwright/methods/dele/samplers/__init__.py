"""Which items of a benchmark stand for all of it (DELE / SubLIME; docs/reference/sampling.md)."""
