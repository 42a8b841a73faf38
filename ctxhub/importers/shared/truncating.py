"""What is too long or of a form that nothing here has is made to fit; `notes` say what was done."""

import unicodedata
from typing import Any, TypeVar

from django.db.models import IntegerChoices

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import (
    NAME_LENGTH,
    clean_choice,
    clean_name,
    clean_object,
    merge_object,
    refuse_secret,
)

UNTITLED = "untitled"

ChoiceT = TypeVar("ChoiceT", bound=IntegerChoices)
Notes = list[str]


def fit_name(said: str | None, place: str, notes: Notes, *, at_most: int = NAME_LENGTH) -> str:
    """The name, cut where it is too long; a blank one is replaced."""
    name = unicodedata.normalize("NFC", said or "").strip()
    if not name:
        notes.append(f"it had no {place}")
        return UNTITLED
    if len(name) > at_most:
        notes.append(f"its {place} had more than {at_most} characters, and is cut")
    return name[:at_most].rstrip()


def cleaned_name(caller: Caller, said: str | None, notes: Notes) -> str:
    """The same by the rules of every name; raises InvalidInput."""
    name = clean_name(fit_name(said, "name", notes), "name")
    refuse_secret(name, "name", caller)
    return name


def fit_text(text: str, place: str, notes: Notes, *, at_most: int) -> str:
    """The text, cut at a character where it has too many bytes."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return text  # The rules refuse it.
    if len(data) <= at_most:
        return text
    notes.append(f"its {place} had more than {at_most:,} bytes, and is cut")
    return data[:at_most].decode(errors="ignore")


def fit_object(value: Any, own: dict[str, Any], caller: Caller, notes: Notes) -> dict[str, Any]:
    """Metadata with what the import adds of its `own`; what may not stand here is left out."""
    try:
        return merge_object({}, clean_object({**as_object(value), **own}, "metadata", caller))
    except (InvalidInput, RecursionError) as error:
        why = error.message if isinstance(error, InvalidInput) else "it is nested too deep"
        notes.append(f"its metadata is left out: {why}")
        return merge_object({}, own)


def as_object(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    return {} if value in (None, "") else {"metadata": value}


def fit_choice(
    said: Any, choices: type[ChoiceT], place: str, notes: Notes, *, otherwise: ChoiceT | None
) -> ChoiceT | None:
    """The word as it is known here."""
    if said in (None, ""):
        return otherwise
    try:
        return clean_choice(said, choices, place)
    except InvalidInput:
        instead = otherwise.label if otherwise is not None else "none"
        notes.append(f"its {place} is not known here: {instead} instead")
        return otherwise
