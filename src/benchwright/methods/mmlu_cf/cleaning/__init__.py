"""Rules that rewrite or reject extracted questions (MMLU-CF, section 3.2)."""
