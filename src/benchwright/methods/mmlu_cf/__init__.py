"""A benchmark made from documents, step by step (MMLU-CF, section 3.2)."""
