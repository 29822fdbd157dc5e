"""Counts and figures in words."""

import math
from collections.abc import Sequence

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


def words_of(names: dict[str, str], name: str) -> str:
    """A name in words; one that is not known with spaces for underscores."""
    return names.get(name, name.replace("_", " "))


def count(n: int, thing: str) -> str:
    """`1 judge`, `1,200 judges`."""
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"


def percent(share: float) -> str:
    """0.836 as `83.6%`; — where it is missing. Only all is 100%, and only none is 0%."""
    if math.isnan(share):
        return "—"
    written = f"{share:.1%}"
    if written == "100.0%" and share < 1:
        return "> 99.9%"
    return "< 0.1%" if written == "0.0%" and share > 0 else written


def figure(value: float, digits: int = 2) -> str:
    """A number with a true minus sign; — where it is missing."""
    return "—" if math.isnan(value) else f"{value:.{digits}f}".replace("-", "−")


def bounds(low: float, high: float, digits: int = 2) -> str:
    """`[0.61, 0.74]`; "" where one is missing."""
    if math.isnan(low) or math.isnan(high):
        return ""
    return f"[{figure(low, digits)}, {figure(high, digits)}]"


def joined(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
