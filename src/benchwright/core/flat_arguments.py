"""Call functions whose last argument is a NamedTuple with its fields as separate arguments."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, TypeVar, get_type_hints

Result = TypeVar("Result")


def flat_arguments(function: Callable[..., Result]) -> Callable[..., Result]:
    """Let a function whose last argument is a NamedTuple take its fields as arguments.

    A pipeline node can then name each field, and Kedro validates each by its type.
    """
    hints = get_type_hints(function)
    *others, last = signature(function).parameters
    bundle = hints[last]
    kinds = {name: hints[name] for name in others} | get_type_hints(bundle)
    flat = Signature(
        [Parameter(n, Parameter.POSITIONAL_OR_KEYWORD, annotation=kinds[n]) for n in kinds]
    )

    @wraps(function)
    def called(*args: Any, **named: Any) -> Result:
        given = flat.bind(*args, **named).arguments
        fields = {name: given.pop(name) for name in bundle._fields}
        return function(**given, **{last: bundle(**fields)})

    called.__signature__ = flat  # type: ignore[attr-defined]
    called.__annotations__ = {**kinds, "return": hints["return"]}
    return called
