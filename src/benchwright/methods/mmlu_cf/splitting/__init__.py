"""Two halves, one public and one closed, and what passes between them (MMLU-CF, section 4.5)."""
