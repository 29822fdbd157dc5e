"""Which configurations can be ranked against each other: those asked alike."""

from collections.abc import Sequence

from benchwright.core.configuration import STYLES, Configuration, parse_configuration

MIXED = "mixed"


def ways_of_asking(configurations: Sequence[str]) -> dict[str, list[int]]:
    """Row numbers of the configurations by the way of asking, the way of most models first.

    A way is style and shots (`letters-5`), "" for names that do not say. Where no way has two
    models but there are two, `mixed` holds the first configuration of each model instead.
    """
    parsed = [parse_configuration(name) for name in configurations]
    ways: dict[str, list[int]] = {}
    for row in sorted(range(len(parsed)), key=lambda row: _order(parsed[row])):
        ways.setdefault(_way(parsed[row]), []).append(row)
    if len({one.model for one in parsed}) > 1 and all(len(rows) == 1 for rows in ways.values()):
        first: dict[str, int] = {}
        for rows in ways.values():
            first.setdefault(parsed[rows[0]].model, rows[0])
        return {MIXED: sorted(first.values())}
    first_come = {way: place for place, way in enumerate(ways)}
    ordered = sorted(ways, key=lambda way: (-len(ways[way]), first_come[way]))
    return {way: sorted(ways[way]) for way in ordered}


def say_way(way: str) -> str:
    """A way of asking in words: `letters, 5 demonstrations`; "" where it is not known."""
    style, _, shots = way.rpartition("-")
    if not style:
        return "asked in different ways" if way == MIXED else ""
    names = {"cloze": "texts of the options", "generate": "written answers"}
    names |= {"cloze_bytes": "texts of the options, by bytes"}
    names |= {"cloze_tokens": "texts of the options, by tokens"}
    count = "no demonstrations" if shots == "0" else f"{shots} demonstrations"
    return f"{names.get(style, style)}, {'1 demonstration' if shots == '1' else count}"


def _way(one: Configuration) -> str:
    return f"{one.style}-{one.shots}" if one.style else ""


def _order(one: Configuration) -> tuple[int, int, str]:
    style = STYLES.index(one.style) if one.style else len(STYLES)
    return style, -one.shots, one.model
