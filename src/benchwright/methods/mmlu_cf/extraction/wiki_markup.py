"""Wiki markup as rows of plain text: numbered items, faces, links, templates."""

import re

_ITEM = re.compile(r"#(?P<below>[:*#;]*)\s*(?P<text>.*)$")
_BELOW = re.compile(r"#{1,3}[:*]{1,2}\s?\S")
_LIST = re.compile(r"[*:;]{1,4}\s?(?=\S)")
_HEADING = re.compile(r"(={2,6})\s?(?P<text>[^=\n][^\n]{0,300}?)\s?\1\s*$")
_TEMPLATE = re.compile(r"\{\{([^{}\n]{0,2000})\}\}")
_LINK = re.compile(r"\[\[([^\[\]\n]{0,500})\]\]")
_NAMED = re.compile(r"\s*[A-Za-z][\w -]{0,30}=")
_ANSWER = re.compile(
    r"(?:show |the )?(?:correct |right )?(?:answers?|solution|key):?", re.IGNORECASE
)
_FACED_LABEL = re.compile(
    r"('{2,5})[(\[]?(?P<name>[A-Za-z]|\d{1,2})(?P<end>[.):\]]?)\1(?P<after>[.):]?)\s+"
)
_FACE = re.compile(r"'{2,5}")


def is_wiki(rows: list[str]) -> bool:
    """Whether a text has items of numbered lists with more lines below them (`#:`, `#*`)."""
    below = sum(_BELOW.match(row) is not None for row in rows[:2_000])
    return below >= 2 and any(
        row.startswith("# ") or row[:2].strip() == "#" for row in rows[:2_000]
    )


def wiki_rows(rows: list[str]) -> list[str]:
    """The rows without markup: `# stem` numbered, what stands below it without its marker.

    Of a template, its last argument without a name is kept, of a link its text.
    """
    out: list[str] = []
    number = 0
    for row in rows:
        heading = _HEADING.match(row) if row.startswith("==") else None
        if heading is not None:
            number = 0
            out += ["", heading["text"], ""]
            continue
        item = _ITEM.match(row) if row.startswith("#") else None
        if item is None:
            found = _LIST.match(row)
            out.append(_plain(row[found.end() :] if found else row))
        elif item["below"]:
            out.append(_plain(item["text"]))
        else:
            number += 1
            out += ["", f"{number}. {_plain(item['text'])}"]
    return out


def _plain(text: str) -> str:
    if "{{" in text:
        text = _TEMPLATE.sub(_argument, text)
    if "[[" in text:
        text = _LINK.sub(lambda found: found[1].rpartition("|")[2], text)
    if "''" in text:
        label = _FACED_LABEL.match(text)
        if label is not None:
            sign = label["end"] or label["after"] or "."
            text = f"{label['name']}{sign} {text[label.end() :]}"
        text = _FACE.sub("", text)
    return text


def _argument(found: "re.Match[str]") -> str:
    name, *parts = found[1].split("|")
    unnamed = [part for part in parts if _NAMED.match(part) is None]
    if unnamed:
        called = any(_ANSWER.fullmatch(one.strip()) for one in (name, *unnamed[:-1]))
        alone = not found.string[: found.start()].strip()
        return f"{'Answer: ' if called and alone else ''}{unnamed[-1].strip()}"
    given = [part.partition("=")[2] for part in parts if re.match(r"\s*\d+\s*=", part)]
    return given[-1].strip() if given else ""
