"""Where a model goes on to a question of its own after it has answered."""

import re
from collections.abc import Sequence

# Two lines of an options list: "A. …" and under it "B. …".
_LIST = re.compile(r"^[ \t]*\(?A[.):][ \t]*([^\n]*)\n[ \t]*\(?B[.):][ \t]*[^\n]*$", re.MULTILINE)


def before_next_question(text: str, options: Sequence[str]) -> str:
    """The text up to where a list of other options than the item's own begins, with its question.

    A model without instructions continues the pattern of its demonstrations: it answers, makes up
    the next question and answers that too, and the last statement is not about the item. The
    question is the paragraph before the list. A list that repeats the item's first option, with or
    without a comment, is the item's own. The whole text where there is no other list.
    """
    own = _folded(options[0]) if options else ""
    for seen in _LIST.finditer(text):
        if own and _folded(seen[1]).startswith(own):
            continue
        before = text[: seen.start()].rstrip()
        paragraph = before.rfind("\n\n")
        return before[: paragraph if paragraph >= 0 else max(0, before.rfind("\n"))]
    return text


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
