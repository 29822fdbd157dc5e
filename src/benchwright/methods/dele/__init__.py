"""DELE and SubLIME: samplers, estimation, planning, and the evidence for samplers."""
