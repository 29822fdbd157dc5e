"""The 14 fields (MMLU-CF, Figure 6 and Table 6)."""

FIELDS = (
    "Math", "Physics", "Chemistry", "Law", "Engineering", "Economics", "Health", "Psychology",
    "Business", "Biology", "Philosophy", "Computer Science", "History", "Other",
)  # fmt: skip

SPELLINGS = {
    **{field: field for field in FIELDS},
    "Mathematics": "Math",
    "Maths": "Math",
    "Computing": "Computer Science",
    "Medicine": "Health",
    "None of these": "Other",
}
"""How a judge may write a field."""
