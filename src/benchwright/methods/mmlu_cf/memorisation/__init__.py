"""Whether models know the options of a question that they are not shown (MMLU-CF, Figure 1)."""
