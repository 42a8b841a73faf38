"""Builds the InvalidInput errors of malformed requests."""

from collections.abc import Collection, Sequence

from django.forms import Form

from ctxhub.core.kit.errors import InvalidInput, shown_all, unknown_word
from ctxhub.core.kit.likeness import few_of
from ctxhub.toolbox.argument_repairs import Taken, repair


def refuse_unknown(given: Collection[str], known: Sequence[str], what: str) -> None:
    """Raise InvalidInput, with suggestions, unless every name is known. `what`: field or parameter."""
    unknown = [name for name in given if name not in known]
    if unknown:
        repaired = repair(given, Taken(known, writes=what == "field"))
        raise InvalidInput(
            f"There is no {what} {shown_all(unknown)}.",
            hint=" ".join(repaired.advice),
            **repaired.details,
            allowed=few_of(unknown[0], known) if repaired.unknown else [],
        )


def invalid_filter(form: Form) -> InvalidInput:
    """The error of the first parameter that a FilterSet refuses."""
    name, errors = next(iter(form.errors.items()))
    known = [str(choice) for choice, _ in getattr(form.fields[name], "choices", ()) if choice]
    unknown = [word for word in str(form.data.get(name)).split(",") if word.strip() not in known]
    if known and unknown:
        return unknown_word(name, unknown[0], known)
    return InvalidInput(f"{name}: {' '.join(map(str, errors))}")
