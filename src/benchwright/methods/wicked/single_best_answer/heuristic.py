"""Words that ask for the best of several right answers: the baseline of every classifier."""

import re

_WORDS = re.compile(
    r"\b(?:best|better|main|mainly|chief|chiefly|primar(?:y|ily)|principal|principally"
    r"|(?:most|least)(?=\s+[a-z])|mostly|likely|likeliest|unlikely|typical(?:ly)?|usual(?:ly)?"
    r"|generally|preferred)\b",
    re.IGNORECASE,
)


def asks_for_the_best(question: str) -> bool:
    """Whether the question asks by degrees: "best", "most likely", "primarily", "main" …

    Reads English, and only the question: that the other options are plainly wrong it cannot see.
    """
    return _WORDS.search(question) is not None
