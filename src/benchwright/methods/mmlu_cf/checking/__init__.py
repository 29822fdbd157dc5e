"""Which questions several judges find good and harmless (MMLU-CF, section 3.2, step 4)."""
