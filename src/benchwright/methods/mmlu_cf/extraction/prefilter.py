"""A look at the text of documents that tells most of those without questions, before parsing.

A question needs options, and options are known by letters that follow one another, by markup, or
by an answer that tells one of several lines apart. A document that shows none of these signs is
passed over. The signs are looser than what extraction asks for: letting a document in costs time
only.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.methods.mmlu_cf.extraction.html import BLOCKS

_TAGS = r"(?:<[^<>]*>)*"
_GAP = rf"(?:\s|&nbsp;|&#160;|{_TAGS})"
_LINE_END = r"(?:\s*(?:$|\n|</|<(?:br|td|th|hr|input|" + "|".join(sorted(BLOCKS)) + r")\b))"
# Before a label that no bracket opens, and what may follow its letter on the line.
_BEFORE = r"(?:^|[^'’\"0-9A-Za-z</(\[{&$-]|[^<]/|'')"
_AFTER = (
    rf"(?:{_TAGS}(?:[.):\]．）、\t]|&nbsp;|&rpar;|&period;|&colon;|[^\x00-\x7f])"
    rf"|{_GAP}?{_TAGS}(?:[-=]{{1,2}}(?:>|&gt;)?(?:\s|<|&)|[:|/–—→»›](?:\s|<|&|$)"
    r"|&[mn]dash;|&rarr;|&raquo;))"
)
_ALONE = r"(?:^|[\n>])(?:\s|&nbsp;|[*•·◦▪‣○●☐□▢◯~|])*"


def _label(letters: str) -> str:
    """A label with one of the letters: with punctuation, in brackets, or alone on its line."""
    return (
        rf"(?:{_BEFORE}[{letters}]{_AFTER}"
        rf"|[(\[{{（]{_TAGS}\s?[{letters}]\s?{_TAGS}[)\]}}）]"
        rf"|{_ALONE}[{letters}]{_LINE_END})"
    )


_KEY = (
    r"(?:(?:answer|ans|sol)\s?[-&]?\s?(?:keys?|choices?|options?|letters?|sheet|list|grid)|answers?"
    r"|ans|sol|keys?|solutions?|explanations|antwort(?:en)?|lösung(?:en)?|lösungsschlüssel"
    r"|respuestas?|soluci[oó]n(?:es)?|réponses?|rép|corrigé|rispost[ae]|resposta|gabarito"
    r"|solutionnaire|ответы?|правильный ответ|верный ответ|ключи?|odpowiedź|antwoord|svar|cevap"
    r"|答案|正解)"
)
_OPTION = (
    r"(?:options?|choices?|alternatives?|correct|right|richtig|correcta|верно|correto|corretta)"
)
_OF = r"(?:\s?(?:to|of|for)\s(?:this\s|the\s)?(?:question|problem|q|item|no\.?)\s?#?\d*)"
_RIGHT = (
    r"(?:(?:correct|right|best|true|model|official|verified|final|scoring|quiz|test|exam|marking"
    r"|practice|sample|multiple[- ]choice|mcq|richtige|korrekte|correcta|bonne|giusta|certa"
    r"|правильный|верный|expected|suggested)\s){0,2}"
)

_IN_CLASS = r"(?:class|id)\s*=\s*(?:\"[^\"<>]*|'[^'<>]*|)"
_ASKED = r"(?:question|stem|item|problem|prompt|question text|frage|pregunta)s?"
_FACE = r"(?:(?:b|strong|mark|u|ins|i|em|font)\b|\w+[^<>]*style\s*=)"
_NUMERAL = r"(?:\d{1,2}|[ivxIVX]{1,4})[.):]"
_BULLET = r"(?:[-*+•●◦▪‣○–]|\\item|\d{1,2}[.)]|[ivx]{1,4}[.)])"

_SIGNS = {
    # The first letter of a series, and one of the next three behind it.
    "letters": (
        rf"(?s){_label('Aa')}.*{_label('B-Db-d')}|{_label('аА')}.*{_label('б-дБ-Д')}"
        rf"|{_label('αΑ')}.*{_label('β-δΒ-Δ')}|[ⓐⓑⒶⒷ①②🄰🄱]"
    ),
    "list of letters": r"(?i)<ol[^<>]*type\s*=\s*[\"']?a|(?:upper|lower)-(?:alpha|latin)",
    "linked data": r"(?i)(?:accepted|suggested)answer",
    "table": (
        rf"(?i)<t[hd][^<>]*>(?:\s|{_TAGS})*(?:the\s)?{_ASKED}\s*<"
        rf"|(?:^|[\n\t|,]|  ){{1}}\s?\"?(?:the\s)?{_ASKED}\"?\s?(?:[\t|,]|  )"
        rf"|[\t|,]\s?\"?(?:the\s)?{_ASKED}\"?\s?(?:[\n\t|,]|$)"
    ),
    "moodle": r"\{\s*\n(?s:.*\n)?\s*[=~](?s:.*)\n\s*[=~]|\\(?:choice|CorrectChoice)\b",
    # Lines that say which option is right.
    "answer": (
        rf"(?i)(?:^|[\n>;|])[^a-zа-я<>\n]*(?:(?:so|thus|hence|therefore),?\s|the\s|die\s|la\s|el\s)*"
        rf"{_RIGHT}(?:{_KEY}(?:{_OF}|\s(?:to|for|of|and|with|section|part|set|zu)\b[^:\n<]*)?"
        rf"|{_OPTION}{_OF}?)"
        r"(?:\s(?:correcta|correcto|correcte|juste|exacte|corretta|correta|certa))?"
        rf"(?:[\s\])*_]|{_TAGS})*(?:[:=：.\-–—→»|>(#]|&(?:nbsp|#160|[mn]dash|rarr|raquo|gt)"
        rf"|\b(?:is|are|was|would be|ist|lautet|es|est|è|é)[\s:=<]|\b\d|$|\n|<"
        r"|[\s(\[\"“*]+(?:[A-Za-zА-я]|[ivxIVX]{1,4}|\d{1,2})[\s)\].:\"”*]*(?:<|\n|$))"
    ),
    "answer behind": (
        r"(?i)[\s.;,\])>(\[*](?:answers?|ans|antwort|lösung|respuesta|réponse|ответ|key|correct"
        r"|correct\soption|answer\skey|correct\schoice|sol)\s?"
        rf"(?:\.?(?:\s(?:is|ist|es))?{_TAGS}\s?(?:[:=：]|[-–—]\s)"
        rf"|\.{_TAGS}\s?[(\[]?[A-Ga-g][)\]]?\s*(?:$|\n|<))"
    ),
    "key": (
        r"(?im)(?:^|[\n>])\s*(?:q\w*\.?\s?|#\s?|\()?\d{1,4}(?:[\s.:=)\]>→–—-]|<[^<>]*>)*[(\[]?"
        r"[A-Ha-hА-Е][)\].]?(?:[\s,;<]|$)"
    ),
    "ticks": (
        r"(?i)[✓✔✅☑🗸✗✘❌✖🔘]|[\pL\pN.)]\s?←|←\s?[\pL\pN]|\((?:correct|right|richtig|correcta|верно|✓|✔|\*)[\s)a-z]|<-+\s?(?:correct|right|answer)"
        r"|[\s>]-+\s?correct|\[x\]|&check;|&#1000[34];|\\(?:checkmark|tick)"
    ),
    "classes of answers": (
        rf"(?i){_IN_CLASS}(?:correct|wrong|false|(?:is|was|option|choice|answer|opt|ans|quiz|mcq?)"
        r"[-_]*(?:right|true)|(?:right|true)[-_]*(?:is|answer|option|choice|ans|item|one)"
        r"|(?:answer|\bans|solution|\bback|[-_]back|\bkey|[-_]key|reveal)(?:[-_]*(?:text|box|block|content|body"
        r"|line|key|reveal|value|side|hidden))?[\"'\s>])"
        r"|data-(?:is-?)?(?:correct|right|answer|solution|ans)"
        r"|(?:alt|aria-label)\s*=\s*[\"']?(?:correct|tick|check)"
    ),
    "coded letters": (
        r"(?i)&#(?:6[5-8]|9[7-9]|100|10[47]\d|9[14]\d|9[34]\d\d"
        r"|x0*(?:[46][1-4]|3[9b][1-4]|4[13][0-6]|24[6-9a-f][0-9a-f]));"
    ),
}
# Options without letters and without a word of an answer: their stem must be a question.
_OPTIONS = (
    r"(?i)type\s*=\s*[\"']?(?:radio|checkbox)(?s:.*)type\s*=\s*[\"']?(?:radio|checkbox)"
    r"|<option(?s:.*)<option"
    rf"|{_IN_CLASS}(?:(?:option|\bopt|[-_]opt|choice|alternative|distractor)(?:[-_]*(?:item|text|row|label"
    r"|container|wrapper|content|body|[a-f]|[0-9]{1,2}))?[\"'\s>]"
    r"|(?:options|choices|alternatives|answer[-_]?(?:list|options|choices))(?:[-_]+[a-z]+)?[\"'\s>])"
    rf"|(?m:^)\s*(?:{_BULLET}\s+)*(?:\[[ xX✓✔*]?\]\s|[☐□▢○◯⚪☑☒●])"
    # one of a list in another face, or with a star
    rf"|(?:<(?:li|dd|button|label)\b[^<>]*>|\d[.)]\s?)(?:\s|{_TAGS})*<{_FACE}[^<>]*>[^<]*</[^<>]*>[^\pL\pN<]*(?:<|$)"
    rf"|(?m:^)\s*{_BULLET}\s+[*_]{{1,2}}[^\n]+[*_]\W*(?m:$)"
    rf"|(?m:^)\s*{_BULLET}\s[^\n]*\*\s*(?m:$)|(?m:^)\s*(?:{_NUMERAL}\s*|[-•–]\s+)\*[^*\s]"
    r"|<(?:li|dd)[^<>]*>\s*\*|\*\s*</(?:li|dd)"
)
_ASKS = (
    r"[?？](?:[^\w=&/;.%-]|$)|__|\.\.\.|…|&hellip;|<ol"
    r"|(?:^|[\n>])\s*[*•>(\[#]*(?:[A-Za-zА-я]+\.?\s?(?:[Nn]o\.?|№)?)?[\s#:.]*\d{1,4}\s?[-.):\]、．–—»›→=]"
)


def may_hold_questions(texts: pa.Array) -> NDArray[np.bool_]:
    """Which documents show a sign of options, shape (n,).

    Args:
        texts: the documents as they are, HTML or not; none of a null.
    """
    shown = np.zeros(len(texts), np.bool_)
    for pattern in _SIGNS.values():  # as one pattern they outgrow RE2's automaton
        _look(texts, ~shown, pattern, shown)
    asks = np.zeros(len(texts), np.bool_)
    _look(texts, ~shown, _ASKS, asks)
    _look(texts, asks & ~shown, _OPTIONS, shown)
    return shown


def _look(
    texts: pa.Array, where: NDArray[np.bool_], pattern: str, found: NDArray[np.bool_]
) -> None:
    """Sets `found` for those of the texts that match."""
    places = np.flatnonzero(where)
    if len(places):
        matches = pc.match_substring_regex(texts.take(pa.array(places)), pattern)
        found[places] = pc.fill_null(matches, False).to_numpy(zero_copy_only=False)
