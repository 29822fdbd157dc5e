"""The 14 fields (MMLU-CF, Figure 6 and Table 6), and where MMLU's 57 subjects belong."""

FIELDS = (
    "Math",
    "Physics",
    "Chemistry",
    "Law",
    "Engineering",
    "Economics",
    "Health",
    "Psychology",
    "Business",
    "Biology",
    "Philosophy",
    "Computer Science",
    "History",
    "Other",
)

SPELLINGS = {
    **{field: field for field in FIELDS},
    "Mathematics": "Math",
    "Maths": "Math",
    "Computing": "Computer Science",
    "Medicine": "Health",
    "None of these": "Other",
}
"""How a judge may write a field."""

_SUBJECTS = {
    "Math": "abstract_algebra college_mathematics elementary_mathematics high_school_mathematics "
    "high_school_statistics",
    "Physics": "astronomy college_physics conceptual_physics high_school_physics",
    "Chemistry": "college_chemistry high_school_chemistry",
    "Law": "international_law jurisprudence professional_law",
    "Engineering": "electrical_engineering",
    "Economics": "econometrics high_school_macroeconomics high_school_microeconomics",
    "Health": "anatomy clinical_knowledge college_medicine human_aging medical_genetics nutrition "
    "professional_medicine virology",
    "Psychology": "high_school_psychology professional_psychology",
    "Business": "business_ethics management marketing professional_accounting public_relations",
    "Biology": "college_biology high_school_biology",
    "Philosophy": "formal_logic logical_fallacies moral_disputes moral_scenarios philosophy "
    "world_religions",
    "Computer Science": "college_computer_science computer_security high_school_computer_science "
    "machine_learning",
    "History": "high_school_european_history high_school_us_history high_school_world_history "
    "prehistory",
    "Other": "global_facts high_school_geography high_school_government_and_politics "
    "human_sexuality miscellaneous security_studies sociology us_foreign_policy",
}

MMLU_FIELDS = {
    subject: field for field, subjects in _SUBJECTS.items() for subject in subjects.split()
}
"""The field of each MMLU subject. The paper has no such table; doubtful: public_relations
(Business), human_sexuality and sociology (Other), world_religions (Philosophy), prehistory
(History), astronomy (Physics)."""
