"""How a page writes the answer: a label, a label with the option's text, or the text."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.methods.mmlu_cf.cleaning.rows import Rows, Text, truths

# "The correct answer is (B)", "Ans: B", "Correct option – B", "**Answer:** B"
_LEAD = (
    r"(?i)^[\s*_#]*(?:(?:the|so|thus|hence|therefore)\b[\s,]*)*(?:(?:correct|right|best|true)\s+)?"
    r"(?:answers?|ans|options?|choices?|key|solution|correct)\b(?:\s+(?:key|choice|option|letter))?"
    r"[\s*_]*(?:(?:is|are)\b|[:.=\x{2013}\x{2014}-])*[\s*_:]*"
    r"(?:(?:option|choice|answer|letter)\s+)?"
)
_BARE = r"^[\s\[({*_]*(?P<label>[A-Za-z]|[0-9]{1,2}|[IVXivx]{1,6})[\s\])}.:,;*_]*$"
_WITH_TEXT = (
    r"(?s)^[\s\[({*_]*(?P<label>[A-Za-z]|[0-9]{1,2}|[IVXivx]{1,6})"
    r"(?:[\])}][.:]?|[.:](?:\s)|\s[\x{2013}\x{2014}-]\s)\s*(?P<text>\S.*)$"
)


def folded(texts: Text) -> Text:
    """The texts without differences of case, white space and a full stop at the end."""
    low = pc.utf8_lower(texts)
    odd = truths(pc.match_substring_regex(low, r"^\s|\s\s|[\t\n\r]|[\s.]$"))
    if not odd.any():
        return low
    some = low.filter(pa.array(odd))
    some = pc.replace_substring_regex(some, r"\s+", " ")
    some = pc.replace_substring_regex(some, r"^ +|[ .]+$", "")
    return pc.replace_with_mask(low, pa.array(odd), some)


def without_lead(answers: Text) -> Text:
    """The answers without "The answer is", "Ans:" and the like."""
    return pc.replace_substring_regex(answers, _LEAD, "", max_replacements=1)


def named_label(answers: Text) -> Text:
    """The label that each answer starts with or consists of, null where it does not."""
    bare = pc.struct_field(pc.extract_regex(answers, _BARE), "label")
    return pc.coalesce(bare, pc.struct_field(pc.extract_regex(answers, _WITH_TEXT), "label"))


def bare_label(answers: Text) -> Text:
    """The label that each answer consists of, null where it does not."""
    return pc.struct_field(pc.extract_regex(answers, _BARE), "label")


def label_and_text(answers: Text) -> tuple[Text, Text]:
    """Label and text of answers such as "B. Paris", null elsewhere."""
    both = pc.extract_regex(answers, _WITH_TEXT)
    return pc.struct_field(both, "label"), pc.struct_field(both, "text")


def matching_choice(rows: Rows, texts: Text) -> NDArray[np.int64]:
    """Position of the only choice that says the same as the text of its row.

    Shape (n,); −1 where no choice does or several do. Case counts where choices differ by it alone.
    """
    position = np.full(len(rows), -1)
    for form in (pc.utf8_trim_whitespace, folded):
        wanted = form(texts).take(pa.array(rows.parent))
        same = truths(pc.equal(form(rows.choices), wanted))
        once = (rows.sums(same) == 1) & (position < 0)
        position = np.where(once, rows.sums(np.where(same, rows.slot, 0)), position)
    return position
