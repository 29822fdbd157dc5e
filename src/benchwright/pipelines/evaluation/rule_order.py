"""The order in which tables list the rules."""

from collections.abc import Iterable

from benchwright.tables import ItemAudit


def in_rule_order(rules: Iterable[object]) -> list[str]:
    """Each rule once, in the order of the columns of `ItemAudit`; others last, by name."""
    place = {name: number for number, name in enumerate(ItemAudit.columns())}
    return sorted(
        {str(rule) for rule in rules}, key=lambda rule: (place.get(rule, len(place)), rule)
    )
