"""Parts of a question that rephrasing must keep: numbers, names, quotations, negations."""

import re
import unicodedata
from collections import Counter
from decimal import Decimal

from benchwright.core import text_folding

_QUOTED = re.compile(
    r"\"([^\"\n]{1,300})\"|“([^”\n]{1,300})”|«([^»\n]{1,300})»|(?<!\w)['‘]([^'’\n]{1,300})['’](?!\w)"
)
_CODE = re.compile(r"```.*?```|`[^`\n]+`|\$[^$\n]+\$|\\\(.+?\\\)|\\\[.+?\\\]", re.DOTALL)
_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_SENTENCE_START = re.compile(r"(?:^|[.?!:;]|\n|^\W+)[\s\"'“‘(*_]*$")
# Prose has letters, digits and these signs; a piece with another sign is a formula or code.
_PROSE = set(".,;:?!'\"()-–—/%&…’‘“”«»$€£° \u00a0")
_EDGE = ".,;:?!'\"’‘“”«»–—…"
_MIXED = re.compile(
    r"\w*[^\W\d_]\w*\d\w*"  # H2O
    r"|\w*[A-Z]\w*[A-Z]\w*|[a-z]+[A-Z]\w*"  # DNA, pH
    r"|[b-hj-zB-HJ-Z]"  # x, but not "a" or "I"
    r"|ln|log|exp|sin|cos|tan|lim|sqrt|mod"
)
_SYMBOL = re.compile(r"\d+[a-rt-z](?!\w)")  # 3x, but not 5kg or 1960s
_CALL = re.compile(r"\w{1,3}[(\[]")  # f(x), but not "word(s)"
# Words of grammar and questions: no names at the start, no units after a number.
_GRAMMAR = frozenset(
    re.findall(
        r"\S+",
        """a an the this that these those my your his her its our their some any each every all both
        either neither no none one most many much more few several such what which who whom whose
        when where why how is are was were be been being do does did done has have had can could
        will would shall should may might must in on at by for from to into onto of off with without
        within about above below over under between among across along around after before during
        since until while as if though although because unless whereas once against toward through
        besides beside behind beyond near next and or but nor so yet not never only also it he she
        they we you i there here find choose select identify name determine calculate compute
        evaluate solve consider suppose assume imagine given let say according people roughly
        approximately usually often generally typically""",
    )
)


def quotations(text: str) -> list[str]:
    """Return the texts between quotation marks, without the marks."""
    return ["".join(groups).strip() for groups in _QUOTED.findall(text)]


def formulas(text: str) -> Counter[str]:
    """Count pieces of mathematics, code, chemistry and abbreviations.

    LaTeX and code in their marks are one piece. Elsewhere it is every piece that has a sign that
    prose lacks, mixes letters with digits, has two capitals ("DNA", "pH"), or is a single letter
    other than "a" and "I". A symbol or an abbreviation counts once, since "it" may replace it.
    """
    marked = [text_folding.single_spaced(code) for code in _CODE.findall(text)]
    # An unfinished "x =" may as well end in "x is".
    pieces = map(_bare_piece, _CODE.sub(" ", text).rstrip(" =:").split())
    shouted = _shouted(text)
    found = Counter(marked + [piece for piece in pieces if _is_formula(piece, shouted)])
    return Counter({piece: 1 if piece.isalnum() else count for piece, count in found.items()})


def _bare_piece(piece: str) -> str:
    """Return a piece without the punctuation around it and brackets that do not belong to it."""
    piece = unicodedata.normalize("NFC", piece).strip(_EDGE)
    if piece.count("(") != piece.count(")") or piece[:1] == "(":
        piece = piece.strip("()")
    return piece.strip(_EDGE).removesuffix("'s").removesuffix("’s")


def _is_formula(piece: str, shouted: bool) -> bool:
    if not piece or set(piece) <= {"_"}:
        return False
    if _CALL.match(piece) or not all(char.isalnum() or char in _PROSE for char in piece):
        return True
    # Words in capitals stress something: NOT, EXCEPT.
    if piece.isupper() and (shouted or piece.casefold() in _GRAMMAR or _NEGATION.search(piece)):
        return False
    return any(_MIXED.fullmatch(part) or _SYMBOL.match(part) for part in re.split("[-–—/]", piece))


def _shouted(text: str) -> bool:
    """Return whether most of the longer words of a text are in capitals."""
    longer = re.findall(r"[^\W\d_]{4,}", text)
    return sum(word.isupper() for word in longer) > len(longer) / 2


def names(text: str) -> frozenset[str]:
    """Return the words capitalised inside a sentence, in lower case, without a possessive s.

    At the start of a sentence a word counts only before another capitalised word or a comma, or
    with a possessive s, and if it is not a word of grammar. A text in capitals has no names.
    """
    text = _CODE.sub(" ", unicodedata.normalize("NFC", text))
    if _shouted(text):
        return frozenset()
    found = set()
    for match in _WORD.finditer(text):
        word = _bare(match[0])
        if len(match[0]) < 2 or not match[0][0].isupper() or word.partition("'")[0] in _GRAMMAR:
            continue
        if not _SENTENCE_START.search(text[: match.start()]) or _surely_a_name(text, match):
            found.add(word)
    return frozenset(found)


def _surely_a_name(text: str, match: re.Match[str]) -> bool:
    possessive = match[0].replace("’", "'").endswith("'s")
    return possessive or bool(re.match(r",|(?: and)? [^\W\d_a-z]", text[match.end() :]))


def opening_word(text: str) -> str:
    """Return the first word, in lower case, unless it is one of grammar, else ""."""
    match = _WORD.search(text)
    word = _bare(match[0]) if match else ""
    return "" if word in _GRAMMAR else word


def words(text: str) -> frozenset[str]:
    """Return all words of a text, in lower case, without a possessive s."""
    normal = unicodedata.normalize("NFC", text)
    return frozenset(_bare(match[0]) for match in _WORD.finditer(normal))


def _bare(word: str) -> str:
    return word.casefold().replace("’", "'").rstrip("'-").removesuffix("'s")


def content_words(text: str) -> list[str]:
    """Return the words and digits of a text in order, without those of grammar and questions."""
    return [word for word in re.findall(r"\w+", text.casefold()) if word not in {*_GRAMMAR, "s"}]


# Phrases that look like a negation and are none.
_NO_NEGATION = re.compile(
    r"\b(?:not only|whether or not|true or false|at least|no matter|no\. ?\d+"
    r"|n(?:o|ot) (?:more|less|fewer|later|earlier) than|neither\b(?=.*\bnor\b))"
)
_NEGATION = re.compile(
    r"\b(?:not|never|no|none|nor|neither|nobody|nothing|without|except|excluding|false|incorrect"
    r"|wrong|untrue|invalid|impossible|unlikely|unable|least|cannot|unless|\w+n't)\b",
    re.IGNORECASE,
)
_OPPOSITES = re.findall(
    r"(\w+)/(\w+)",
    """most/least more/less more/fewer largest/smallest biggest/smallest larger/smaller
    greatest/least highest/lowest higher/lower longest/shortest longer/shorter heaviest/lightest
    fastest/slowest faster/slower oldest/youngest older/younger nearest/farthest strongest/weakest
    best/worst maximum/minimum earliest/latest first/last before/after above/below
    increase/decrease increases/decreases increased/decreased rise/fall rises/falls
    positive/negative north/south northern/southern east/west hot/cold true/false
    correct/incorrect likely/unlikely possible/impossible always/never inside/outside""",
)


def same_negation(before: str, after: str) -> bool:
    """Return whether two wordings of a question have the same negations.

    Both or none must have negations, and their numbers must both be odd or both even.
    """
    old = _negations(before)
    new = _negations(after)
    return (old > 0) == (new > 0) and old % 2 == new % 2


def _negations(text: str) -> int:
    return len(_NEGATION.findall(_NO_NEGATION.sub(" ", folded(text))))


def has_opposite(before: str, after: str) -> bool:
    """Return whether a word was replaced by its opposite ("largest" for "smallest")."""
    old = Counter(re.findall(r"\w+", folded(before)))
    new = Counter(re.findall(r"\w+", folded(after)))
    gained = new - old
    lost = old - new
    return any(
        (first in lost and second in gained) or (second in lost and first in gained)
        for first, second in _OPPOSITES
    )


def folded(text: str) -> str:
    """Return the text in lower case, with one kind of apostrophe and single spaces."""
    return text_folding.folded(text.replace("’", "'"))


_CARDINALS = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty",
)
_TENS = ("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = ("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_WORDS = {
    **{word: str(value) for value, word in enumerate(_CARDINALS) if value != 1},
    **{word: f"{value}0" for value, word in enumerate(_TENS, 3)},
    **{word: f"{value} th" for value, word in enumerate(_ORDINALS, 3)},
    "half": "1/2",
    "twice": "2",
    "dozen": "12",
    "hundred": "100",
    "thousand": "1000",
    "million": "1000000",
}
_NUMBER = re.compile(
    r"(?<![\w.])(?P<digits>(?:(?<![\w)])[-−])?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?<=\d))"
    rf"(?P<th>st|nd|rd|th)?(?![^\W_]*\d)|\b(?P<word>{'|'.join(_WORDS)})\b",
    re.IGNORECASE,
)
_UNIT = re.compile(r"[\s-]?([^\W\d_]+|%)")


def numbers(text: str) -> Counter[str]:
    """Count each number in a text, in digits or in words: `12`, `1/2`, `3 th`.

    A spelled "one", most often a pronoun, and "first" are left out.
    """
    return Counter(map(_named, _NUMBER.finditer(text)))


def _named(match: re.Match[str]) -> str:
    if match["word"]:
        return _WORDS[match["word"].casefold()]
    value = Decimal(match["digits"].replace(",", "").replace("−", "-"))
    return f"{value.normalize():f}{' th' if match['th'] else ''}"


def units(text: str) -> dict[str, str]:
    """Return the word after each number in digits, by number; none of grammar."""
    after = {}
    for match in _NUMBER.finditer(text):
        word = _UNIT.match(text, match.end())
        if match["digits"] and word is not None:
            after[_named(match)] = _unit(word[1])
    return {number: unit for number, unit in after.items() if unit not in _GRAMMAR}


def _unit(word: str) -> str:
    return "%" if word.casefold() == "percent" else _bare(word).removesuffix("s")
