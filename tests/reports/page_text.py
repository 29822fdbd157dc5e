"""The text of a page."""

from selectolax.lexbor import LexborHTMLParser


def text(page: str) -> str:
    """Return the text of a page without tags, scripts and styles."""
    tree = LexborHTMLParser(page)
    tree.strip_tags(["script", "style"])
    return " ".join(tree.text(separator=" ").split())
