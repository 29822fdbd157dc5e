"""Text and HTML pages of a WARC file (needs `warcio`)."""

import codecs
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchwright.core.errors import InputError

_KINDS = ("text/html", "application/xhtml+xml", "text/plain", "text/markdown")
_PAGES = re.compile(r"utf-(?:8|16|32)|ascii|cp\d|iso|koi8|mac-|big5|gb|euc|shift|johab|hz|tis|ptcp")
_CHARSET = re.compile(rb"""charset\s?=\s?["']?([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE)


def warc_documents(
    file: Path, most_bytes: int, fault: Callable[[int, str], None]
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Number from 1 and fields (doc_id, url, content_type, text) of each page.

    Records that are no page (requests, images, answers other than 200) are passed over; larger ones
    than `most_bytes`, when unpacked, are told to `fault` and left out.

    Raises:
        InputError: warcio is not installed.
        OSError: the file is torn or no WARC.
    """
    try:
        from warcio.archiveiterator import ArchiveIterator
        from warcio.exceptions import ArchiveLoadFailed
    except ImportError as error:
        raise InputError(
            f"{file}: WARC files need the package warcio (`pip install warcio`)"
        ) from error
    place = 0
    with file.open("rb") as stream:
        try:
            for place, record in enumerate(ArchiveIterator(stream), start=1):
                kind = _kind(record)
                if not kind:
                    continue
                content = record.content_stream().read(most_bytes + 1)
                if len(content) > most_bytes:
                    fault(place, f"a page of more than {most_bytes} bytes")
                    continue
                headers = record.rec_headers
                yield (
                    place,
                    {
                        "doc_id": headers.get_header("WARC-Record-ID"),
                        "url": headers.get_header("WARC-Target-URI"),
                        "content_type": kind,
                        "text": _decoded(content, _declared(record)),
                    },
                )
        # The rest is what warcio itself stumbles over, e.g. an answer without an address.
        except (ArchiveLoadFailed, ValueError, LookupError, AttributeError, TypeError) as error:
            raise OSError(f"record {place + 1}: {error}") from error


def _kind(record: Any) -> str:
    """The content type of a page, "" for other records."""
    if record.rec_type == "conversion":  # text extracted by the crawl
        return "text/plain"
    if record.rec_type not in {"response", "resource"}:
        return ""
    headers = record.http_headers
    if headers is not None and not (headers.get_statuscode() or "200").startswith("200"):
        return ""
    kind = _declared(record).partition(";")[0].strip().lower()
    return kind if kind in _KINDS else ""


def _declared(record: Any) -> str:
    headers = record.http_headers if record.http_headers is not None else record.rec_headers
    return headers.get_header("Content-Type") or ""


def _decoded(content: bytes, declared: str) -> str:
    found = _CHARSET.search(declared.encode("utf-8", "replace")) or _CHARSET.search(content[:2_048])
    try:
        name = codecs.lookup(found[1].decode() if found else "utf-8").name
    except (LookupError, ValueError):
        name = "utf-8"
    # Other codecs of Python are no charsets of pages: punycode takes hours, "undefined" fails.
    return content.decode(name if _PAGES.match(name) else "utf-8", "replace")
