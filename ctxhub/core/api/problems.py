"""Builds the InvalidInput errors of malformed requests."""

from collections.abc import Iterable, Sequence

from ctxhub.core.kit.errors import InvalidInput, shown_all
from ctxhub.core.toolbox.suggestions import suggest_arguments


def refuse_unknown(given: Iterable[str], known: Sequence[str], what: str) -> None:
    """Raise InvalidInput, with suggestions, unless every name is known."""
    names = list(given)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InvalidInput(
            f"There is no {what} {shown_all(unknown)}.",
            did_you_mean=suggest_arguments(unknown, known, names),
            allowed=list(known),
        )
