"""Multiple-choice questions read off web documents by rules (MMLU-CF, section 3.2, step 1)."""
