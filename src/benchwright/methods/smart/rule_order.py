"""The order in which tables list the rules."""

from collections.abc import Iterable

from benchwright.tables.smart import RULES


def in_rule_order(rules: Iterable[object]) -> list[str]:
    """Each rule once, in the order of `RULES`; others last, by name."""
    place = {name: number for number, name in enumerate(RULES)}
    return sorted(
        {str(rule) for rule in rules}, key=lambda rule: (place.get(rule, len(place)), rule)
    )
