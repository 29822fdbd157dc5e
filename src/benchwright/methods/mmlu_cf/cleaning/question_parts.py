"""The question proper, apart from a passage that stands in the same text."""

import pyarrow as pa
import pyarrow.compute as pc

from benchwright.methods.mmlu_cf.cleaning.rows import Text, truths, written_over

_LONG = 250
"""Bytes from which a text is looked at for a passage."""
_LAST = 600
_FIRST = 120
# Up to the last end of a sentence or line that at least 15 characters follow.
_BEFORE_LAST_SENTENCE = r"(?s)^.*(?:[.?!][\x{22}\x{27}\x{201D})\]]*\s|\n)\s*(?P<last>\S.{14,})$"


def last_sentence(questions: Text) -> Text:
    """The last sentence or line of a long text, the whole of a short one.

    A passage that several items share stands before what is asked, as a rule; what an item asks is
    told from its last sentence, its first one (`beginning`) and its choices.
    """
    long = truths(pc.greater(pc.binary_length(questions), _LONG))
    if not long.any():
        return questions
    some = pc.utf8_trim_whitespace(questions.filter(pa.array(long)))
    some = pc.utf8_slice_codeunits(some, -_LAST)
    last = pc.struct_field(pc.extract_regex(some, _BEFORE_LAST_SENTENCE), "last")
    return written_over(questions, long, pc.coalesce(last, some))


def beginning(questions: Text) -> Text:
    """The first 120 characters."""
    return pc.utf8_slice_codeunits(pc.utf8_ltrim_whitespace(questions), 0, _FIRST)
