"""How pages say which option is right: "Answer: B", "The correct option is (b)", and the rest."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from benchwright.methods.mmlu_cf.extraction.lines import flat

_WORD = (
    r"(?:(?:q|ques|question|problem|item|task|exercise|no|nr|frage|aufgabe|вопрос|задание|№|#)"
    r"\s?\.?\s?#?)?"
)
_LABEL = r"(?:\d{1,2}|[A-Ha-hА-Еа-е]|[ivxIVX]{1,4})"
_PAIR_SIGN = r"(?:\.{2,6}|::|[.:=)\]]|[-–—=→>»…]{1,2}|\bis\b)"
_OF = r"(?:(?:the\s)?(?:option|choice|answer|variant|letter|number|no\.?)\s)?"
_HEAD = re.compile(
    rf"{_WORD}[(\[]?(?P<number>\d{{1,4}})\s?(?P<sign>{_PAIR_SIGN}(?:\s?[-–—=→>:.]){{0,2}}|(?=\s|\())\s?"
    rf"(?=\S)",
    re.IGNORECASE,
)
_FIRST = re.compile(
    rf"[(\[]?(?P<name>{_WORD}\d{{1,4}}|[A-Ha-hА-Е])[)\]]?\s?(?P<sign>{_PAIR_SIGN}(?:\s?[-–—=→>:])?|(?=\s?[(\[]))\s?"
    rf"[(\[]?{_OF}(?P<label>{_LABEL})[)\].]?(?P<after>$|\s?[;,|/]\s?|\s)",
    re.IGNORECASE,
)
_GAP = re.compile(r"(?:[;,|/·•\t\n]|\.|\band\b|&)\s*$", re.IGNORECASE)
_BARE = re.compile(rf"[(\[]?{_OF}(?P<label>{_LABEL})[)\]]?\.?", re.IGNORECASE)
_LONGEST = 20_000


class Pair(NamedTuple):
    """What a text says of one question."""

    number: int
    rest: str


def pairs_in(text: str) -> list[Pair]:
    """The pairs of a text that counts questions: two or more, numbers rising by one.

    A new pair begins at the next number, behind a separator (behind white space, where all that
    pairs say are labels). Empty where the text is anything else.
    """
    text = text.strip().rstrip(".;, ")
    if len(text) > _LONGEST:
        return []
    first = _HEAD.match(text)
    if first is None:
        return []
    starts, heads = [0], [first]
    wanted = int(first["number"]) + 1
    for found in _numbers(text, first.end()):
        if int(found["number"]) == wanted and _may_follow(text, heads[-1], found):
            starts.append(found.start())
            heads.append(found)
            wanted += 1
    if len(heads) < 2:
        return []
    ends = [*starts[1:], len(text)]
    rests = [
        re.sub(r"\s?(?:and|&)$", "", text[head.end() : end].strip(" \t;,|/·•")).strip(" ;,")
        for head, end in zip(heads, ends, strict=True)
    ]
    if not all(rests):
        return []
    unsigned = any(not head["sign"] for head in heads)
    if unsigned and not all(_BARE.fullmatch(one) for one in rests):
        return []
    return [Pair(int(head["number"]), one) for head, one in zip(heads, rests, strict=True)]


def counted(text: str) -> tuple[int, str] | None:
    """The number that a text begins with and the sign behind it; None where none stands there."""
    found = _HEAD.match(text)
    return (int(found["number"]), found["sign"].strip()) if found and found["sign"] else None


def _numbers(text: str, start: int) -> list["re.Match[str]"]:
    return [
        found
        for found in re.finditer(rf"(?<![\w(\[#№])(?<!\d[.,]){_HEAD.pattern}", text, re.IGNORECASE)
        if found.start() > start - 1
    ]


def _may_follow(text: str, head: "re.Match[str]", found: "re.Match[str]") -> bool:
    """Whether a pair may end before a number: something is said, then comes a gap."""
    at = found.start()
    before = text[head.end() : at]
    if not before.strip():
        return False
    if _GAP.search(text[max(0, at - 8) : at]) is not None:
        return True
    if not found["sign"]:
        return False
    same = found["sign"].strip() == head["sign"].strip()
    return same or _BARE.fullmatch(before.strip()) is not None


def speaks_of_questions(text: str) -> bool:
    """Whether what follows "Answer:" pairs numbers or labels: a key, or part of one.

    `1 – 3` and `Q1: b` do, `A – 3; B – 1` (a matching exercise) does; `B. 3` and `B) text` do not.
    """
    if pairs_in(text[:2_000]):
        return True
    text = text.strip(" .;")
    first = _FIRST.match(text)
    if first is None:
        return False
    if first["name"].isalpha() or first["after"].strip():
        other = _FIRST.match(text, first.end())
        return other is not None and other["name"].casefold() != first["name"].casefold()
    return first.end() == len(text)


_NOUN = (
    r"(?:(?:answer|ans|sol)\s?(?:key|choice|option|letter)?s?|(?:option|choice|alternative)s?|key"
    r"|solutions?|antwort(?:en)?|lösung(?:en)?|respuestas?|solución|réponses?|rép|solution"
    r"|risposta|resposta|gabarito|ответы?|правильный ответ|верный ответ|odpowiedź|antwoord|svar"
    r"|cevap|答案|正解)(?:\s(?:correcta|correcto|correcte|juste|exacte|corretta|correta|certa))?"
)
_RIGHT = (
    r"(?:(?:correct|right|best|true|model|official|verified|final|richtige|korrekte|correcta"
    r"|bonne|giusta|certa|правильный|верный|expected|suggested)\s){1,2}"
)
_ADJECTIVE = r"(?:correct|right|richtig|correcta|верно|correto|corretta)"
_LEAD = (
    r"(?:(?:correct|right|yes|well done)!\s)?"
    r"[\[({<*✓✔✅→=>»:•\-–\s]{0,6}(?:(?:so|thus|hence|therefore),?\s)?(?:the\s|die\s|la\s|el\s)?"
)
_TO = r"(?:\s?(?:to|of|for)\s(?:this\s|the\s)?(?:question|problem|q|item|no\.?)?\s?#?\d{0,4})?"
_IS = r"(?:is|are|was|would be|ist|lautet|es|est|è|é)"
_ANSWER = re.compile(
    rf"{_LEAD}(?:(?P<right>{_RIGHT})?{_NOUN}{_TO}|(?P<only>{_ADJECTIVE}))"
    rf"(?P<sep>\s?[\])]?\s?(?:{_IS}\s?[:=]?|::|=>|[:=：]\s?[-–—]?|[-–—→>»|]{{1,2}}|\.(?=\s|[(\[]|[A-Za-z]\b)))?"
    r"(?P<rest>\s.*|[(\[*\"“'].*|)$",
    re.IGNORECASE | re.DOTALL,
)
_INSIDE = re.compile(
    r"(?<=[\s.;,\])])[\[({<*✓✔→\-–]{0,3}\s?(?:the\s)?(?:(?:correct|right)\s)?"
    r"(?:answers?|ans|antwort|lösung|respuesta|réponse|ответ|key|correct(?:\soption)?|answer\skey"
    r"|correct\schoice|sol)\s?\.?(?:\s(?:is|ist|es))?\s?(?:[:=：]|[-–—]\s"
    r"|(?<=\.)\s?(?=[(\[]?[A-Ga-g][)\]]?$))",
    re.IGNORECASE,
)
_EXPLAINS = re.compile(
    r"[\[({*•\-–\s]{0,4}(?:answer\s)?(?:explanations?|explained|rationale|reason(?:ing)?|why\??"
    r"|solution"
    r"|feedback|because|hint|erklärung|begründung|explicación|explication|spiegazione|объяснение"
    r"|пояснение|justification|comment|note|detailed solution|more info|discussion)"
    r"\s?\)?(?:[:：]|\s[-–—]\s|\.(?=\s)|$)\s?",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"[\[({*#•\-–\s]{0,4}(?:the\s)?(?:(?:correct|right|true|verified|expected|model|official|scoring|suggested|quiz|test|exam"
    r"|marking|final|practice|sample|multiple[- ]choice|mcq)\s){0,2}"
    r"(?:answers?(?:\s?[-&]?\s?(?:keys?|sheet|list|grid))?|keys?|solutions?|antworten|lösungen"
    r"|lösungsschlüssel|respuestas|soluciones|réponses|corrigé|ответы|ключи?|gabarito|solutionnaire"
    r"|risposte|answers and explanations?|answers & explanations?|answer explanations?"
    r"|solutions and explanations?|explanations)"
    r"(?:\s(?:to|for|of|and|with|section|part|set|zu)\b[^:\n]{0,60})?"
    r"(?:\s?[(\[][^()\[\]]{0,60}[)\]])?(?:\s?[\])])?(?:\s?[:：.]|\s[-–—]|(?=$)|(?=\t)"
    r"|(?=\s\d{1,3}\s?[-–]\s?\d))\s?(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_SIGN = re.compile(r"(?:[✓✔✅→⇒➜☑]|=>|->|>>)\s?(?P<rest>[(\[]?[A-Ha-h][)\].]?)")
_NUMBER_OF = re.compile(
    r"[\[(*•\s]{0,3}(?:(?:correct|right)\s)?(?:answer|ans|solution|sol)s?\.?\s?(?:(?:to|for|of)\s)?"
    r"(?:the\s)?(?:question|problem|q|no|nr|#)?\.?\s?#?(?P<number>\d{1,4})\s?"
    r"(?:[:.)=]|[–—-](?!\s?\d)|is\b)\s?[-–—]?\s?(?P<rest>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_GUESS = re.compile(
    r"\b(?:i think|i guess|i believe|i(?:'|’)d say|i would say|guess(?:ed|ing)?|not sure"
    r"|maybe|perhaps|imo"
    r"|probably|my answer|your answer|you answered|you chose|you selected|votes?|most people)\b",
    re.IGNORECASE,
)
_BUTTON = re.compile(
    r"[▶►▼▾➤>\[\s+]{0,3}(?:(?:show|view|reveal|see|check|hide|display|toggle|click|tap|open|submit|get)\b"
    r"[^.:?]{0,40}|next|previous|submit|check|reset|vote|discuss|report|skip"
    r"|\d+ points?|points: \d+)"
    r"[\]\s.…:]{0,3}",
    re.IGNORECASE,
)
_PIECE = r"[\[({]?(?:option\s|choice\s)?(?:[A-Za-zА-Ка-кⒶ-ⓩ①-⑩]|[0-9]{1,2}|[ivxIVX]{1,4})[.)\]}]?"
_SEVERAL = re.compile(
    rf"(?:both\s)?(?P<all>{_PIECE}(?:\s?(?:,|&|and|und|or|y|et|и|\+|/|;)\s?(?:and\s)?{_PIECE}){{1,6}})"
    r"(?P<rest>\.?$|[.:]\s.*|\s[-–(].*)",
    re.IGNORECASE | re.DOTALL,
)
_ONE = re.compile(
    r"(?i:(?:the\s)?(?:(?:correct|right)\s)?(?:option|choice|answer|letter|number|alternative|opción|is|no\.?|#)\s?[:.]?\s){0,2}"
    r"(?P<open>[\[({<\"“'‘*]{0,2})\s?(?P<name>[A-Za-zА-Ка-кΑ-Θα-θⒶ-ⓩ①-⑩]|[0-9]{1,2}|[ivxIVX]{1,4})\s?"
    r"(?P<close>[\])}>\"”'’*]{0,2}[.:),;]?[\])]?)(?P<after>\s.*|[-–—(].*|$)",
    re.DOTALL,
)
_LABELLED = re.compile(r"[(\[]?(?:[A-Ha-hА-Еа-е]|\d{1,2}|[ivxIVX]{1,4})[)\].:]?\s(?:[-–—:=]\s)?")
_SHORT = 120


class Parsed(NamedTuple):
    """An answer as the page gives it, and what is said of it."""

    answer: str
    explanation: str


def folded(text: str) -> str:
    """The text for comparison: case, white space, quotes and a full stop at the end aside."""
    return flat(text).strip(" .;:,\"'“”‘’*").casefold()


def answer_after(text: str) -> str | None:
    """What a line says after "Answer:" and the like; None where it is no such line."""
    if len(text) > 4_000 or _GUESS.search(text[:80]):
        return None
    if _NUMBER_OF.match(text) is not None:
        return None  # an entry of a key
    found = _SIGN.fullmatch(text)
    if found is not None:
        return found["rest"]
    found = _ANSWER.match(text)
    if found is None:
        return None
    rest = found["rest"].strip()
    if found["sep"] or not rest:
        return rest
    bare = _ONE.fullmatch(rest)  # "Answer B", "Correct answer (c)"
    return rest if bare is not None and not bare["after"].strip(" ]).") else None


def numbered_answer(text: str) -> tuple[int, str] | None:
    """Number and answer in "Answer to question 3: B" and the like."""
    found = _NUMBER_OF.match(text) if len(text) <= 4_000 else None
    return (int(found["number"]), found["rest"].strip()) if found is not None else None


def starts_answer(text: str) -> bool:
    """Whether a line gives an answer, or announces one."""
    return answer_after(text) is not None


def is_announcement(text: str) -> bool:
    """Whether a line is a button such as "Show answer"."""
    return len(text) < 60 and _BUTTON.fullmatch(text) is not None


def key_after(text: str) -> str | None:
    """What a line says after "Answer key" and the like; None where it is no such line."""
    if len(text) > 20_000 or _GUESS.search(text[:80]):
        return None
    found = _KEY.match(text)
    return found["rest"].strip() if found is not None else None


def starts_key(text: str) -> bool:
    """Whether a line begins a key."""
    return key_after(text) is not None


def explanation_after(text: str) -> str | None:
    """What a line says after "Explanation:" and the like; None where it is no such line."""
    found = _EXPLAINS.match(text)
    return text[found.end() :].strip() if found is not None else None


def answer_inside(text: str) -> int:
    """Where "Ans:" and the like begin inside a text, −1 where they do not."""
    found = _INSIDE.search(text[-4_000:])
    return -1 if found is None else max(0, len(text) - 4_000) + found.start()


def parsed_answer(
    rest: str, labels: Sequence[str], texts: Sequence[str], *, loose: bool = False
) -> Parsed | None:
    """The answer in what follows "Answer:"; None for a guess, a question, or what names nothing.

    A label of the options comes first where it stands alone or with punctuation; then the text of
    exactly one option; then several labels, and labels that the options do not have, so that
    cleaning can say so. If `loose`, nothing but the place says that it is an answer: then it must
    name options.
    """
    rest = flat(rest).strip()
    inner = rest.strip("*_ ")
    if inner.endswith("]") and "[" not in inner:
        inner = inner[:-1].rstrip()
    if not inner or inner.endswith("?") or _GUESS.search(inner[:80]):
        return None
    exact = _exact(inner, texts)
    if not exact and speaks_of_questions(inner) and not _quotes(inner, labels, texts):
        return None
    # "B", "(b)", "C.", and with text behind
    one = _ONE.match(inner)
    if one is not None:
        found = _by_label(one, labels, texts, inner)
        after = one["after"].strip(" -–—:.)")
        # A label with a text behind it that is not its option's is an item of another list.
        other = found and found.explanation and not _begins_with_option(after, texts)
        if found is not None and not (loose and other):
            return found
    several = _SEVERAL.fullmatch(inner)
    if several is not None and not exact:
        return Parsed(several["all"].rstrip("]"), several["rest"].strip(" .:"))
    by_text = _by_text(inner, texts)
    known = one is not None and one["name"].casefold() in map(str.casefold, labels)
    if by_text is not None or loose or one is None or known:
        return by_text
    return _unknown_label(one, inner)


def _unknown_label(one: "re.Match[str]", whole: str) -> Parsed | None:
    """A label that none of the options has."""
    if not one["after"].strip(" ])."):
        return Parsed(one["name"], "")
    if one["close"].strip() and len(one["name"]) < 3 and len(whole) <= _SHORT:
        return Parsed(one["name"], one["after"].strip())
    return None


def _quotes(text: str, labels: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether a text is an option with its label, as it stands in the list: `2) 4`."""
    one = _ONE.match(text)
    after = folded(one["after"].strip(" -–—:.()=→>»|")) if one is not None else ""
    return one is not None and any(
        label.casefold() == one["name"].casefold() and folded(option) == after != ""
        for label, option in zip(labels, texts, strict=False)
    )


def _by_label(
    one: "re.Match[str]", labels: Sequence[str], texts: Sequence[str], whole: str
) -> Parsed | None:
    names = {label.casefold() for label in labels if label}
    named = bool(names)
    name, after = one["name"], one["after"].strip()
    known = name.casefold() in names
    if not named:  # letters or numbers count the options, unless an option says just that
        place = ord(name.casefold()) - 97 if name.isalpha() and len(name) == 1 else -1
        known = 0 <= place < len(texts) and folded(whole) not in map(folded, texts)
    if not known:
        return None
    after = after.lstrip("-–—:=>→»›| ").strip()
    if not after.strip("])}.*"):
        return Parsed(name, "")
    punctuated = bool(one["close"].strip(" ,")) or one["after"].lstrip()[:1] in "-–—(:=→»›|>"
    argued = punctuated or re.match(r"(?:because|since|as|is|was)\b", after)
    if not argued and (_exact(whole, texts) or not _begins_with_option(after, texts)):
        return None
    if named and _contradicts(name, after, labels, texts):
        return None
    rest = _without_option(after, texts, name)
    return Parsed(name, rest)


def _contradicts(name: str, after: str, labels: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether a label is followed by the text of another option, and of that alone."""
    lows = {folded(after), folded(_LABELLED.sub("", after, count=1).strip(" ()[].;,"))}
    same = [label for label, text in zip(labels, texts, strict=False) if folded(text) in lows]
    return bool(same) and name.casefold() not in map(str.casefold, same)


def _exact(text: str, texts: Sequence[str]) -> bool:
    return folded(text) in {folded(one) for one in texts}


def _begins_with_option(text: str, texts: Sequence[str]) -> bool:
    low = folded(text)
    return any(one and low.startswith(folded(one)) for one in texts)


def _without_option(text: str, texts: Sequence[str], name: str) -> str:
    """What follows the option's text, where it is repeated after its label."""
    low = flat(text).casefold()
    for one in sorted(texts, key=len, reverse=True):
        own = flat(one).casefold().rstrip(".")
        if own and low.startswith(own):
            rest = flat(text)[len(own) :]
            if not rest.strip(" .)]") or rest.lstrip(" ")[:1] in ".;:,()–—-[":
                return rest.strip(" .;:)]–—-")
    text = flat(text)
    if text.endswith(("]", ")")) and text.count("(") + text.count("[") == 0:
        text = text[:-1]
    return text


def _by_text(text: str, texts: Sequence[str]) -> Parsed | None:
    low = folded(text)
    exact = [one for one in texts if one and folded(one) == low]
    if exact:
        same = {flat(one) for one in exact}
        if len(same) > 1 and flat(text) not in same:
            return None  # options that differ in case alone
        return Parsed(flat(text).strip("*_ "), "")
    found = [one for one in texts if len(one) > 1 and low.startswith(folded(one))]
    for one in sorted(found, key=len, reverse=True):
        at = len(folded(one))
        if low[at : at + 1] in ".;,:(–—[" or low[at:].startswith(
            (" -", " –", " —", " (", " because")
        ):
            whole = flat(text).lstrip("\"'“‘* ")
            return Parsed(whole[:at], whole[at:].strip(" .;:,)]–—-\"'”’"))
    return None
