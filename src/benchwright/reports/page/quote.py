"""The main statements of a page as plain text, for the end of a run."""


def quote_page(html: str) -> tuple[list[str], str]:
    """Return the verdict of a report with its figures and notes, and what to do next.

    Figures and notes begin with a dash; what is next is "" where the page does not say it.
    """
    from selectolax.lexbor import LexborHTMLParser

    top = LexborHTMLParser(html.partition("<section")[0])

    def texts(selector: str, separator: str = "") -> list[str]:
        return [" ".join(node.text(separator=separator).split()) for node in top.css(selector)]

    tiles = [f"- {tile}" for tile in texts(".tiles li", ": ")]
    notes = [f"- {note}" for note in texts("aside li")]
    return [*texts(".headline"), *tiles, *texts(".judgement"), *notes], "".join(texts(".next"))
