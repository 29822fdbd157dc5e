"""Extract multiple-choice questions from web documents by rules (MMLU-CF, section 3.2)."""
