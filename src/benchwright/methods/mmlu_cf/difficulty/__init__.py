"""How hard questions are, and a sample of them by difficulty (MMLU-CF, section 3.2, step 3)."""
