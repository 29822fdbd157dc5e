"""The numbers in an English text, in figures or in words, with the units attached to them."""

import re
from collections import Counter
from decimal import Decimal
from fractions import Fraction

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
_WORD = "|".join(sorted(_WORDS, key=len, reverse=True))
_SCALE = "|".join(_SCALES)
_PART = "|".join(sorted(_PARTS, key=len, reverse=True))
_FIGURE = r"(?:\d{1,3}(?:[,\u202f]\d{3})+|\d+)(?:\.\d+)?|\.\d+"
_ATOM = rf"(?:(?:twenty|{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_SMALL[1:10])})\b)?|(?:{_WORD}))\b"
_SPELLED = (
    rf"(?:{_ATOM}[\s-]+)?(?:{_SCALE})\b(?:(?:\s+and)?\s+{_ATOM}(?:[\s-]+(?:{_SCALE})\b)*"
    rf"|[\s-]+(?:{_SCALE})\b)*|{_ATOM}"
)
_NUMBER = re.compile(
    rf"(?P<money>[$€£])?\s?(?<![\w.])(?P<sign>(?<![\w)])[-−])?"
    rf"(?:(?P<over>\d+)\s?/\s?(?P<under>\d+)"
    rf"|(?P<ordinal>\d+)(?:st|nd|rd|th)\b"
    rf"|(?P<figure>{_FIGURE})(?:[\s-]?(?P<scale>{_SCALE})\b)?"
    rf"|(?:(?P<parts>{_WORD}|an?)[\s-]+)?(?P<part>{_PART})\b"
    rf"|(?P<spelled>{_SPELLED})"
    rf"|(?P<dozen>dozen)\b|(?P<times>twice|doubled?|doubles)\b)"
    rf"(?:[\s-]?(?P<unit>{_UNIT})(?![\w²³^]))?",
    re.IGNORECASE,
)
_A_TIME = re.compile(r"\b(?:per|each|every|a|split)\s+$", re.IGNORECASE)


def numbers(text: str) -> Counter[str]:
    """How often each number occurs in a text: `12`, `1/2`, `25 %`, `3 rd`, `10 kg`.

    Figures and words are alike ("12", "twelve", "a dozen", "1,000", "one thousand"), and so are
    the spellings of a unit; other units are other numbers, since nothing is converted. A spelled
    "one" is left out, which is most often a pronoun, and so is "first".
    """
    return Counter(_named(found, text) for found in _NUMBER.finditer(text)) - Counter(
        {"": len(text)}
    )


def is_number(piece: str) -> bool:
    """Whether a piece of text is a number with its unit and nothing else."""
    return _NUMBER.fullmatch(piece) is not None


def _named(found: re.Match[str], text: str) -> str:
    """The canonical name of a number found, "" where it is none."""
    value = _value(found, text)
    if value is None:
        return ""
    unit = _UNIT_OF[found["money"]] if found["money"] else ""
    if found["unit"]:
        unit = f"{unit} {_UNIT_OF[' '.join(found['unit'].casefold().split())]}".strip()
    if found["ordinal"] or (found["part"] and not found["parts"] and value.denominator == 1):
        unit = "th"
    name = f"-{value}" if found["sign"] else str(value)
    return f"{name} {unit}".strip()


def _value(found: re.Match[str], text: str) -> Fraction | None:
    if found["over"]:
        under = int(found["under"])
        return Fraction(int(found["over"]), under) if under else None
    if found["ordinal"]:
        return Fraction(int(found["ordinal"])) if int(found["ordinal"]) > 1 else None
    if found["figure"]:
        value = Fraction(Decimal(re.sub(r"[,\u202f]", "", found["figure"])))
        return value * _SCALES[found["scale"].casefold()] if found["scale"] else value
    if found["part"]:
        return _part(found, text)
    if found["spelled"]:
        return _spelled(found["spelled"].casefold())
    return Fraction(_DOZEN if found["dozen"] else 2)


def _part(found: re.Match[str], text: str) -> Fraction | None:
    """One half, two thirds; or "the third", which is a place; or "per second", which is none."""
    word = found["part"].casefold()
    how_many = (found["parts"] or "").casefold()
    if word.startswith("second"):
        # A time, or a place; never a part.
        if word == "seconds" or how_many or _A_TIME.search(text[: found.start("part")]):
            return None
        return Fraction(2)
    plain = word in _ORDINALS
    if how_many in {"a", "an"} and plain:
        return Fraction(1, _PARTS[word])
    if how_many in _WORDS:
        return Fraction(_WORDS[how_many], _PARTS[word])
    return Fraction(_ORDINALS[word]) if plain else Fraction(1, _PARTS[word])


def _spelled(words: str) -> Fraction | None:
    """The value of "two hundred and fifty"; a lone "one" is nothing."""
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
