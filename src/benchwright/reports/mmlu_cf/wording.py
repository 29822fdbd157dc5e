"""Counts and figures in words."""

import math

MEASURES = {
    "recall": "labelled questions found with their answer (recall)",
    "recall_exact": "found with their answer, letter for letter",
    "found": "labelled questions found, whatever the answer",
    "precision": "questions found that are labelled so (precision)",
    "precision_all_documents": "precision where all of unlabelled documents counts as wrong",
    "answers": "of those found, with the labelled answer",
    "without_answer": "labelled without an answer, found without one",
    "broken": "labelled broken, not taken for usable",
    "explanations": "explanations found alike",
    "passages": "passages found alike",
}
"""What each measure of extraction says."""

VERDICTS = {
    "certain": "alike beyond doubt",
    "same_words": "the same by their words",
    "judged_same": "the same, says the judge",
    "other_words": "different by their words",
    "judged_different": "different, says the judge",
}

REASONS = {
    "good": "kept: rated above the bound and harmless",
    "low_rating": "dropped: the mean rating is not above the bound",
    "harmful": "dropped: a harm was seen",
    "unjudged": "not judged",
}
"""What the check decided of a question."""

SOURCES = {
    "judges": "rated by judges",
    "responses": "from models' answers",
    "not_judged": "not known",
}
"""Where a level of difficulty is from."""

POOLS = {
    "rated": "clean questions",
    "sampled": "sampled",
    "checked": "checked",
    "final": "after the rules",
}


def percent(share: float) -> str:
    """0.836 as `83.6%`; — where it is missing. Only all is 100%, and only none is 0%."""
    if math.isnan(share):
        return "—"
    written = f"{share:.1%}"
    if written == "100.0%" and share < 1:
        return "> 99.9%"
    return "< 0.1%" if written == "0.0%" and share > 0 else written
