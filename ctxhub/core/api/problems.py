"""Builds the InvalidInput errors of malformed requests."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rest_framework.exceptions import ErrorDetail

from ctxhub.core.kit.errors import SHOWN_NAMES, InvalidInput, shown_all
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


def refusal_of(detail: Any) -> InvalidInput:
    """One error for all errors of a serializer: the missing fields, or else the invalid ones."""
    problems = list(_problems(detail, ""))
    missing = [path for path, problem in problems if problem.code == "required"]
    invalid = [f"{path}: {problem}" if path else str(problem) for path, problem in problems]
    message = f"{', '.join(missing)} must be given." if missing else _first(list(dict.fromkeys(invalid)))
    return InvalidInput(message, missing=missing)


def _first(sentences: Sequence[str]) -> str:
    """The first 5 sentences, and the number of the others: a list of 1,000 entries may have 1,000 errors."""
    more = len(sentences) - SHOWN_NAMES
    return " ".join([*sentences[:SHOWN_NAMES], *([f"And {more:,} more."] if more > 0 else [])])


def _problems(detail: Any, path: str) -> Iterator[tuple[str, ErrorDetail]]:
    """Yields each error with the path of its field: `items[2].name`."""
    if isinstance(detail, ErrorDetail):
        yield path, detail
    elif isinstance(detail, dict):
        for name, inner in detail.items():
            yield from _problems(inner, _child_path(path, name))
    else:
        for inner in detail:
            yield from _problems(inner, path)


def _child_path(path: str, name: str | int) -> str:
    if name == "non_field_errors":
        return path
    if isinstance(name, int):
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else name
