"""Parts of a question that rephrasing must keep: numbers, names, quotations, negations."""

import re
import unicodedata
from collections import Counter
from decimal import Decimal
from fractions import Fraction

_QUOTED = re.compile(
    r"\"([^\"\n]{1,300})\"|“([^”\n]{1,300})”|«([^»\n]{1,300})»|(?<!\w)['‘]([^'’\n]{1,300})['’](?!\w)"
)
_CODE = re.compile(r"```.*?```|`[^`\n]+`|\$[^$\n]+\$|\\\(.+?\\\)|\\\[.+?\\\]", re.DOTALL)
_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_ENDS = re.compile(r"(?:^|[.?!:;]|\n|^\W+)[\s\"'“‘(*_]*$")
# Prose has letters, digits and these signs; a piece with another sign is a formula or code.
_PROSE = set(".,;:?!'\"()-–—/%&…’‘“”«»$€£° \u00a0")
_EDGE = ".,;:?!'\"’‘“”«»–—…"
_MIXED = re.compile(
    r"\w*[^\W\d_]\w*\d\w*|\w*\d\w*[^\W\d_]\w*"  # H2O, 3x
    r"|\w*[A-Z]\w*[A-Z]\w*|[a-z]+[A-Z]\w*"  # DNA, pH
    r"|[b-hj-zB-HJ-Z]"  # x, but not "a" or "I"
    r"|ln|log|exp|sin|cos|tan|cot|sec|lim|sqrt|mod|det"
)
_CALL = re.compile(r"\w{1,3}[(\[]")  # f(x), but not "word(s)"
# Written in capitals for emphasis.
_STRESSED = frozenset(
    re.findall(
        r"\S+",
        """not except least most best all always never only false true incorrect correct no none
        cannot first last and or but is are both""",
    )
)
_PRONOUN = frozenset({"i", "i'm", "i've", "i'd", "i'll"})
# Words that open a question without being names.
_OPENERS = frozenset(
    re.findall(
        r"\S+",
        """a an the this that these those my your his her its our their some any each every all both
    either neither no none one most many much more few several such what which who whom whose when
    where why how is are was were am be been being do does did done has have had having can could
    will would shall should may might must in on at by for from to into onto of off with without
    within about above below over under between among across along around after before during since
    until while as if though although because unless whereas once upon against toward towards
    through throughout besides beside behind beyond near next and or but nor so yet not never only
    also it he she they we you there here find choose select identify name determine calculate
    compute evaluate solve consider suppose assume imagine given let say according people someone
    somebody anyone everybody whenever wherever whatever whichever whoever people person roughly
    approximately about usually often generally typically""",
    )
)


def quotations(text: str) -> list[str]:
    """Return the texts between quotation marks, without the marks."""
    return [next(filter(None, groups)).strip() for groups in _QUOTED.findall(text) if any(groups)]


def formulas(text: str) -> list[str]:
    """Return pieces of mathematics, code, chemistry and abbreviations, sorted, with repetitions.

    LaTeX and code in their marks are one piece. Elsewhere it is every piece between spaces that has
    a sign that prose lacks, mixes letters with digits, has two capitals ("DNA", "pH", "H2O"),
    or is a single letter other than "a" and "I". Digits with a unit are numbers, not formulas.
    """
    marked = [" ".join(code.split()) for code in _CODE.findall(text)]
    # An unfinished "x =" may as well end in "x is".
    pieces = [_trimmed(piece) for piece in _CODE.sub(" ", text).rstrip(" =:").split()]
    shouted = _shouted(text)
    return sorted(marked + [piece for piece in pieces if _is_formula(piece, shouted)])


def _trimmed(piece: str) -> str:
    """Strip the punctuation around a piece, and brackets that do not belong to it."""
    piece = unicodedata.normalize("NFC", piece).strip(_EDGE)
    for left, right in ("()", "[]"):
        whole = piece.endswith(right) and piece.count(left) == 1
        if piece.startswith(left) and (whole or piece.count(left) > piece.count(right)):
            piece = piece[1:]
        if piece.endswith(right) and piece.count(right) > piece.count(left):
            piece = piece[:-1]
    return piece.strip(_EDGE).removesuffix("'s").removesuffix("’s")


def _is_formula(piece: str, shouted: bool) -> bool:
    if not piece or set(piece) <= {"_"} or is_number(piece):
        return False
    strange = (not (c.isalnum() or c in _PROSE) or unicodedata.category(c) == "No" for c in piece)
    if any(strange) or _CALL.match(piece):
        return True
    if piece.isalpha() and ((shouted and piece.isupper()) or piece.casefold() in _STRESSED):
        return False
    return any(_MIXED.fullmatch(part) for part in re.split(r"[-–—/]", piece))


def _shouted(text: str) -> bool:
    """Return whether most of the longer words of a text are in capitals."""
    longer = re.findall(r"[^\W\d_]{4,}", text)
    return sum(word.isupper() for word in longer) > len(longer) / 2


def names(text: str) -> frozenset[str]:
    """Return the words capitalised inside a sentence, in lower case, without a possessive s.

    At the start of a sentence a word counts only where it is certainly a name: before another
    capitalised word, a comma, or with a possessive s, and not one of the words that open questions.
    A text in capitals throughout has no recognisable names.
    """
    text = _CODE.sub(" ", unicodedata.normalize("NFC", text))
    if _shouted(text):
        return frozenset()
    matches = list(_WORD.finditer(text))
    bare = [_bare(match[0]) for match in matches]
    return frozenset(
        word
        for place, (match, word) in enumerate(zip(matches, bare, strict=True))
        if match[0][0].isupper() and word not in _PRONOUN and len(word) > 1
        if not _ENDS.search(text[: match.start()]) or _surely_a_name(text, matches, place)
    )


def _surely_a_name(text: str, matches: list[re.Match[str]], place: int) -> bool:
    match = matches[place]
    if _bare(match[0]) in _OPENERS:
        return False
    after = text[match.end() : match.end() + 1]
    if after == "," or match[0].casefold().replace("’", "'").endswith("'s"):
        return True
    return any(
        following[0][0].isupper()
        and text[match.end() : following.start()].strip(" ") in {"", "and"}
        for following in matches[place + 1 : place + 2]
    )


def opening_word(text: str) -> str:
    """Return the first word, in lower case, unless it is one that opens questions, else ""."""
    match = _WORD.search(text)
    word = _bare(match[0]) if match else ""
    return "" if word in _OPENERS else word


def words(text: str) -> frozenset[str]:
    """Return all words of a text, in lower case, without a possessive s."""
    normal = unicodedata.normalize("NFC", text)
    return frozenset(_bare(match[0]) for match in _WORD.finditer(normal))


def _bare(word: str) -> str:
    return word.casefold().replace("’", "'").rstrip("'-").removesuffix("'s")


def content_words(text: str) -> list[str]:
    """Return the words and digits of a text in order, without those of grammar and questions."""
    return [word for word in re.findall(r"\w+", text.casefold()) if word not in {*_OPENERS, "s"}]


# Phrases that look like a negation and are none, or negate an amount rather than a sentence.
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
# Words that may or may not replace a negation: either count is accepted.
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
    """Return whether two wordings of a question have the same negations.

    Both or none must have negations, and their numbers must both be odd or both even. Otherwise
    words that may say the same ("lacks", "other than", "unwanted") in the text that has fewer
    compensate for one.
    """
    (n_before, maybe_before), (n_after, maybe_after) = _counts(before), _counts(after)
    if (n_before > 0) == (n_after > 0) and n_before % 2 == n_after % 2:
        return True
    fewer = maybe_before - maybe_after if n_before < n_after else maybe_after - maybe_before
    return bool(fewer) and abs(n_before - n_after) == 1


def _counts(text: str) -> tuple[int, Counter[str]]:
    flat = _NO_NEGATION.sub(" ", folded(text))
    firm = len(_NEGATION.findall(flat))
    return firm, Counter(_LIKE_A_NEGATION.findall(_NEGATION.sub(" ", flat)))


def has_opposite(before: str, after: str) -> bool:
    """Return whether a word was replaced by its opposite ("largest" for "smallest").

    A negation may compensate for it ("incorrect" for "not correct").
    """
    old, new = folded(before), folded(after)
    return any(
        _occurs(word, old) > _occurs(word, new)
        and _occurs(opposite, old) < _occurs(opposite, new)
        and _other_negations(pair, old) == _other_negations(pair, new)
        for pair in _OPPOSITES
        for word, opposite in (pair, pair[::-1])
    )


def _other_negations(pair: tuple[str, str], flat: str) -> int:
    """Count negations other than the two words themselves."""
    left = re.sub(rf"\b(?:{pair[0]}|{pair[1]})\b", " ", flat)
    return len(_NEGATION.findall(_NO_NEGATION.sub(" ", left)))


def _occurs(word: str, flat: str) -> int:
    return len(re.findall(rf"\b{word}\b", flat))


def folded(text: str) -> str:
    """Return the text in lower case, with one kind of apostrophe and single spaces."""
    return " ".join(text.casefold().replace("’", "'").split())


_SMALL = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty",
)
_TENS = ("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS = {word: value for value, word in enumerate(_SMALL)} | {
    word: 10 * value for value, word in enumerate(_TENS, start=3)
}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_PLACES = re.findall(
    r"\w+",
    "second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth",
)
_ORDINALS = {word: value for value, word in enumerate(_PLACES, start=2)}
_PARTS = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4} | {
    word + ending: value for word, value in _ORDINALS.items() for ending in ("", "s")
}
_DOZEN = 12

# Spellings of one unit; a text that converts units says something else here.
_UNITS = {
    "%": "% percent per_cent percentage",
    "°": "° degree degrees deg",
    "°c": "°c celsius centigrade degrees_celsius degree_celsius",
    "°f": "°f fahrenheit degrees_fahrenheit degree_fahrenheit",
    "mm": "mm millimetre millimetres millimeter millimeters",
    "cm": "cm centimetre centimetres centimeter centimeters",
    "m": "m metre metres meter meters",
    "km": "km kilometre kilometres kilometer kilometers",
    "ft": "ft foot feet",
    "in": "inch inches",
    "mi": "mi mile miles",
    "mg": "mg milligram milligrams",
    "g": "g gram grams gramme grammes",
    "kg": "kg kilogram kilograms kilo kilos",
    "lb": "lb lbs pound pounds £",
    "t": "tonne tonnes ton tons",
    "ml": "ml millilitre millilitres milliliter milliliters",
    "l": "l litre litres liter liters",
    "ms": "ms millisecond milliseconds",
    "s": "s sec second seconds",
    "min": "min minute minutes",
    "h": "h hr hrs hour hours",
    "d": "day days",
    "wk": "week weeks",
    "mo": "month months",
    "y": "yr yrs year years",
    "n": "newton newtons n",
    "j": "j joule joules",
    "kj": "kj kilojoule kilojoules",
    "w": "w watt watts",
    "kw": "kw kilowatt kilowatts",
    "v": "v volt volts",
    "a": "amp amps ampere amperes",
    "hz": "hz hertz",
    "pa": "pa pascal pascals",
    "mol": "mol mole moles",
    "k": "kelvin kelvins",
    "$": "$ dollar dollars usd",
    "€": "€ euro euros eur",
    "c": "cent cents",
}
_UNIT_OF = {
    spelling.replace("_", " "): unit
    for unit, spellings in _UNITS.items()
    for spelling in spellings.split()
}
_UNIT = "|".join(sorted(map(re.escape, _UNIT_OF), key=len, reverse=True))
_CARDINAL = "|".join(sorted(_WORDS, key=len, reverse=True))
_SCALE = "|".join(_SCALES)
_PART = "|".join(sorted(_PARTS, key=len, reverse=True))
_NUMERAL = r"(?:\d{1,3}(?:[,\u202f]\d{3})+|\d+)(?:\.\d+)?|\.\d+"
_ATOM = (
    rf"(?:(?:twenty|{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_SMALL[1:10])})\b)?|(?:{_CARDINAL}))\b"
)
_SPELLED = (
    rf"(?:{_ATOM}[\s-]+)?(?:{_SCALE})\b(?:(?:\s+and)?\s+{_ATOM}(?:[\s-]+(?:{_SCALE})\b)*"
    rf"|[\s-]+(?:{_SCALE})\b)*|{_ATOM}"
)
_NUMBER = re.compile(
    rf"(?P<money>[$€£])?\s?(?<![\w.])(?P<sign>(?<![\w)])[-−])?"
    rf"(?:(?P<over>\d+)\s?/\s?(?P<under>\d+)"
    rf"|(?P<ordinal>\d+)(?:st|nd|rd|th)\b"
    rf"|(?P<numeral>{_NUMERAL})(?:[\s-]?(?P<scale>{_SCALE})\b)?"
    rf"|(?:(?P<parts>{_CARDINAL}|an?)[\s-]+)?(?P<part>{_PART})\b"
    rf"|(?P<spelled>{_SPELLED})"
    rf"|(?P<dozen>dozen)\b|(?P<times>twice|doubled?|doubles)\b)"
    rf"(?:[\s-]?(?P<unit>{_UNIT})(?![\w²³^]))?",
    re.IGNORECASE,
)
_A_TIME = re.compile(r"\b(?:per|each|every|a|split)\s+$", re.IGNORECASE)


def numbers(text: str) -> Counter[str]:
    """Count each number in a text: `12`, `1/2`, `25 %`, `3 th`, `10 kg`.

    Digits and words are equal ("12", "twelve", "a dozen", "1,000", "one thousand"), and so are
    the spellings of a unit; other units are other numbers, since nothing is converted. A spelled
    "one", most often a pronoun, and "first" are left out.
    """
    return Counter(filter(None, (_named(match, text) for match in _NUMBER.finditer(text))))


def is_number(piece: str) -> bool:
    """Return whether a piece of text is a number with its unit and nothing else."""
    return _NUMBER.fullmatch(piece) is not None


def _named(match: re.Match[str], text: str) -> str:
    """Return the canonical name of a number, "" if it is none."""
    value = _value(match, text)
    if value is None:
        return ""
    unit = _UNIT_OF[match["money"]] if match["money"] else ""
    if match["unit"]:
        unit = f"{unit} {_UNIT_OF[' '.join(match['unit'].casefold().split())]}".strip()
    if match["ordinal"] or (match["part"] and not match["parts"] and value.denominator == 1):
        unit = "th"
    name = f"-{value}" if match["sign"] else str(value)
    return f"{name} {unit}".strip()


def _value(match: re.Match[str], text: str) -> Fraction | None:
    if match["over"]:
        under = int(match["under"])
        return Fraction(int(match["over"]), under) if under else None
    if match["ordinal"]:
        return Fraction(int(match["ordinal"])) if int(match["ordinal"]) > 1 else None
    if match["numeral"]:
        value = Fraction(Decimal(re.sub(r"[,\u202f]", "", match["numeral"])))
        return value * _SCALES[match["scale"].casefold()] if match["scale"] else value
    if match["part"]:
        return _part(match, text)
    if match["spelled"]:
        return _spelled(match["spelled"].casefold())
    return Fraction(_DOZEN if match["dozen"] else 2)


def _part(match: re.Match[str], text: str) -> Fraction | None:
    """Read one half, two thirds; "the third" is a place, and "per second" is no number."""
    word = match["part"].casefold()
    how_many = (match["parts"] or "").casefold()
    if word.startswith("second"):
        # A time, or a place; never a part.
        if word == "seconds" or how_many or _A_TIME.search(text[: match.start("part")]):
            return None
        return Fraction(2)
    plain = word in _ORDINALS
    if how_many in {"a", "an"} and plain:
        return Fraction(1, _PARTS[word])
    if how_many in _WORDS:
        return Fraction(_WORDS[how_many], _PARTS[word])
    return Fraction(_ORDINALS[word]) if plain else Fraction(1, _PARTS[word])


def _spelled(words: str) -> Fraction | None:
    """Return the value of "two hundred and fifty"; a lone "one" is no number."""
    total, below = 0, 0
    parts = [part for part in re.split(r"[\s-]+", words) if part != "and"]
    if parts == ["one"]:
        return None
    for part in parts:
        if part in _WORDS:
            below += _WORDS[part]
        elif part == "hundred":
            below = (below or 1) * 100
        else:
            total, below = total + (below or 1) * _SCALES[part], 0
    return Fraction(total + below)
