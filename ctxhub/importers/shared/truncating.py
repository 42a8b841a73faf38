"""Truncates or converts values that do not fit here; `notes` collect what was changed."""

import unicodedata
from typing import Any, TypeVar

from django.db.models import IntegerChoices

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import (
    NAME_LENGTH,
    clean_choice,
    clean_new_name,
    clean_object,
    merge_object,
    plain_name,
    refuse_secret,
)
from ctxhub.core.text.invisible import invisible_places, without_invisible

UNTITLED = "untitled"

ChoiceT = TypeVar("ChoiceT", bound=IntegerChoices)
Notes = list[str]


def normalise_name(value: str | None, field: str, notes: Notes, *, at_most: int = NAME_LENGTH) -> str:
    """The name without characters that nobody sees, truncated if too long; "untitled" if blank."""
    written = unicodedata.normalize("NFC", value or "").strip()
    name = plain_name(without_invisible(written))
    if invisible_places(written):
        notes.append(f"its {field} held characters that nobody sees, which are left out")
    if not name:
        notes.append(f"it had no {field}")
        return UNTITLED
    if len(name) > at_most:
        notes.append(f"its {field} had more than {at_most} characters, and is cut")
    return name[:at_most].rstrip()


def cleaned_name(caller: Caller, value: str | None, notes: Notes) -> str:
    """The name normalised and validated. Raises InvalidInput."""
    name = clean_new_name(normalise_name(value, "name", notes), "name")
    refuse_secret(name, "name", caller)
    return name


def truncate_text(text: str, field: str, notes: Notes, *, at_most: int) -> str:
    """The text, truncated at a character boundary if it has too many bytes."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return text  # Validation refuses it.
    if len(data) <= at_most:
        return text
    notes.append(f"its {field} had more than {at_most:,} bytes, and is cut")
    return data[:at_most].decode(errors="ignore")


def normalise_object(value: Any, own: dict[str, Any], caller: Caller, notes: Notes) -> dict[str, Any]:
    """Metadata merged with the import's `own`; only `own` if the old metadata are invalid."""
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


def normalise_choice(
    value: Any, choices: type[ChoiceT], field: str, notes: Notes, *, otherwise: ChoiceT | None
) -> ChoiceT | None:
    """The choice of this label; `otherwise` if missing or unknown."""
    if value in (None, ""):
        return otherwise
    try:
        return clean_choice(value, choices, field)
    except InvalidInput:
        instead = otherwise.label if otherwise is not None else "none"
        notes.append(f"its {field} is not known here: {instead} instead")
        return otherwise
