"""The main statements of a page as plain text, for the end of a run."""


def quote_page(html: str) -> list[str]:
    """Return the headline of a report, its judgement, and its notes, which begin with a dash."""
    from selectolax.lexbor import LexborHTMLParser

    top = LexborHTMLParser(html.partition("<section")[0])

    def texts(selector: str) -> list[str]:
        return [" ".join(node.text().split()) for node in top.css(selector)]

    return [*texts(".headline, .judgement"), *(f"- {note}" for note in texts("aside li"))]
