"""The contamination-free rules on items made from documents (MMLU-CF, section 3.4)."""
