"""A document as lines of text with the structure that its markup gives."""

from benchwright.methods.mmlu_cf.extraction.html_lines import html_page
from benchwright.methods.mmlu_cf.extraction.lines import PageText
from benchwright.methods.mmlu_cf.extraction.plain_lines import plain_page


def page_text(text: str, content_type: str) -> PageText:
    """The lines of a document.

    Args:
        text: the document.
        content_type: `text/html`, `text/markdown` or `text/plain` (anything else is read as that),
            with or without parameters; HTML that is declared as plain text is found out.
    """
    kind = content_type.partition(";")[0].strip().lower()
    head = text[:1_000].lstrip().lower()
    if "html" in kind or head.startswith(("<!doctype html", "<html")):
        return html_page(text)
    return plain_page(text, markdown="markdown" in kind)
