"""Multiple-choice questions of one page, without a project."""

from benchwright.core.errors import InputError
from benchwright.methods.mmlu_cf.extraction.extract import questions_in
from benchwright.methods.mmlu_cf.extraction.lines import FoundQuestion


def read_questions(text: str, media_type: str = "text/plain") -> list[FoundQuestion]:
    """Return the multiple-choice questions of a page, in page order.

    Args:
        text: the page; only its first 4,000,000 characters are read.
        media_type: `text/html`, `text/markdown` or `text/plain`, with or without parameters; other
            types are read as plain text, in which quiz files (GIFT, AMC, Moodle XML) count.

    Returns:
        Questions with `question`, `choices`, `labels` ("" where an option has none), `answer` (a
        label, or the option's text; None if the page gives none), `explanation` and `passage`.

    Raises:
        InputError: `text` is not a string, or a package that reads the type is not installed.
    """
    if not isinstance(text, str):
        raise InputError(f"text is {type(text).__name__}; expected str: decode it first")
    try:
        return questions_in(text, media_type)
    except ModuleNotFoundError as error:
        raise InputError(
            f"{error.name} is not installed: pip install 'benchwright[documents]'"
        ) from error
