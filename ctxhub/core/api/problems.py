"""What is wrong with a request, said so that its sender can repair it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rest_framework.exceptions import ErrorDetail

from ctxhub.core.kit.errors import SHOWN_NAMES, InvalidInput, shown_all
from ctxhub.core.toolbox.suggestions import meant_arguments


def refuse_unknown(given: Iterable[str], known: Sequence[str], what: str) -> None:
    """Raise InvalidInput unless every name is known, naming what the unknown ones most likely meant."""
    names = list(given)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InvalidInput(
            f"There is no {what} {shown_all(unknown)}.",
            did_you_mean=meant_arguments(unknown, known, names),
            allowed=list(known),
        )


def refusal_of(detail: Any) -> InvalidInput:
    """A serializer's complaints as one error: every field that is wrong, and those that are missing."""
    problems = list(_problems(detail, ""))
    missing = [place for place, problem in problems if problem.code == "required"]
    wrong = [f"{place}: {problem}" if place else str(problem) for place, problem in problems]
    said = f"{', '.join(missing)} must be given." if missing else _first(list(dict.fromkeys(wrong)))
    return InvalidInput(said, missing=missing)


def _first(sentences: Sequence[str]) -> str:
    """As many as a reader mends at once; a list of a thousand entries may be wrong in each."""
    more = len(sentences) - SHOWN_NAMES
    return " ".join([*sentences[:SHOWN_NAMES], *([f"And {more:,} more."] if more > 0 else [])])


def _problems(detail: Any, place: str) -> Iterator[tuple[str, ErrorDetail]]:
    if isinstance(detail, ErrorDetail):
        yield place, detail
    elif isinstance(detail, dict):
        for name, inner in detail.items():
            yield from _problems(inner, _below(place, name))
    else:
        for inner in detail:
            yield from _problems(inner, place)


def _below(place: str, name: str | int) -> str:
    if name == "non_field_errors":
        return place
    if isinstance(name, int):
        return f"{place}[{name}]"
    return f"{place}.{name}" if place else name
