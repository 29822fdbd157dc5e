"""Words that turn the sense of a question round: negations, and words with an opposite."""

import re
from collections import Counter

# What looks like a negation and is none, or turns an amount rather than a sentence.
_NO_NEGATION = re.compile(
    r"\b(?:not\s+only|whether\s+or\s+not|true\s+or\s+false|at\s+least|no\s+matter|not\s+least"
    r"|no\s+(?:more|less|fewer|later|earlier)\s+than|not\s+(?:more|less|fewer)\s+than"
    r"|last\s+but\s+not\s+least|no\.\s*\d+|least\s+squares|neither\b(?=.*\bnor\b))"
)
_NEGATION = re.compile(
    r"\b(?:not|never|no|none|nor|neither|nobody|nothing|nowhere|without|except|excepting|excluding"
    r"|false|falsely|incorrect|incorrectly|wrong|wrongly|untrue|inaccurate|inaccurately|invalid"
    r"|improper|inappropriate|inconsistent|impossible|unlikely|unable|unrelated|unnecessary"
    r"|ineffective|insufficient|inadequate|least|cannot|unless|\w+n't|cant)\b"
)
# They may say in a word what a negation says, or may not: either count is taken.
_LIKE_A_NEGATION = re.compile(
    r"\b(?:lack(?:s|ed|ing)?|absent|absence|missing|fail(?:s|ed|ing|ure)?|refus(?:e|es|ed|ing)"
    r"|prevent(?:s|ed|ing)?|avoid(?:s|ed|ing)?|exclud(?:e|es|ed)|forbid(?:s|den)?|bann?(?:s|ed)?"
    r"|hardly|rarely|seldom|barely|scarcely|other\s+than|rather\s+than|instead|exceptions?"
    r"|differ(?:s|ent|ently)?|free\s+(?:of|from)|odd\s+one\s+out|outsiders?|non-?\w{3,}"
    r"|un(?:wanted|known|usual|common|fit|safe|true|clear|changed?|aware|paid|equal|touched|asked)"
    r"|disagrees?|dislikes?|even\s+though|despite|although|outside|\w{4,}less)\b"
)
_OPPOSITES: list[tuple[str, str]] = re.findall(
    r"([^/]+)/([^,]+)(?:, )?",
    "most/least, more/less, more/fewer, largest/smallest, biggest/smallest, larger/smaller, "
    "bigger/smaller, greatest/least, greater/lesser, highest/lowest, higher/lower, "
    "longest/shortest, longer/shorter, heaviest/lightest, heavier/lighter, fastest/slowest, "
    "faster/slower, oldest/youngest, older/younger, hottest/coldest, nearest/farthest, "
    "closest/farthest, strongest/weakest, best/worst, maximum/minimum, earliest/latest, "
    "first/last, before/after, above/below, increase/decrease, increases/decreases, "
    "increased/decreased, increasing/decreasing, rise/fall, rises/falls, positive/negative, "
    "north/south, northern/southern, east/west, eastern/western, hot/cold, warm/cold, "
    "true/false, correct/incorrect, likely/unlikely, possible/impossible, always/never, at "
    "least/at most, buy/sell, win/lose, male/female, freeze/melt, freezes/melts, day/night, "
    "inside/outside, necessary/sufficient",
)


def same_negation(before: str, after: str) -> bool:
    """Whether two wordings of a question are negated alike.

    Negations must be there or not in both, and their numbers both odd or both even. Where they are
    not, words that may say the same ("lacks", "other than", "unwanted") in the text that has fewer
    make up for it.
    """
    n_before, maybe_before = _counts(before)
    n_after, maybe_after = _counts(after)
    if (n_before > 0) == (n_after > 0) and n_before % 2 == n_after % 2:
        return True
    fewer = maybe_before - maybe_after if n_before < n_after else maybe_after - maybe_before
    return bool(fewer) and abs(n_before - n_after) == 1


def _counts(text: str) -> tuple[int, Counter[str]]:
    folded = _NO_NEGATION.sub(" ", _folded(text))
    firm = len(_NEGATION.findall(folded))
    return firm, Counter(_LIKE_A_NEGATION.findall(_NEGATION.sub(" ", folded)))


def turned_round(before: str, after: str) -> bool:
    """Whether a word has made way for its opposite ("largest" for "smallest").

    Not where a negation makes up for it ("incorrect" for "not correct").
    """
    old, new = _folded(before), _folded(after)
    return any(
        _occurs(one, old) > _occurs(one, new)
        and _occurs(other, old) < _occurs(other, new)
        and _negations_beside(pair, old) == _negations_beside(pair, new)
        for pair in _OPPOSITES
        for one, other in (pair, pair[::-1])
    )


def _negations_beside(pair: tuple[str, str], folded: str) -> int:
    """Negations other than the two words themselves."""
    left = re.sub(rf"\b(?:{pair[0]}|{pair[1]})\b", " ", folded)
    return len(_NEGATION.findall(_NO_NEGATION.sub(" ", left)))


def _occurs(word: str, folded: str) -> int:
    return len(re.findall(rf"\b{word}\b", folded))


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split())
