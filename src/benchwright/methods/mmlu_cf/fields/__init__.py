"""Which of 14 fields a question belongs to (MMLU-CF, section 3.1 and Figure 6)."""
