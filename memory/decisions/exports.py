"""What decisions and templates are in an export."""

from math import isfinite

from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.transfer import cleaners
from ctxhub.core.transfer.declaration import Exported, Part, Values, register
from ctxhub.core.transfer.words import folded_name
from memory.decisions.models import Decision, DecisionRevision, ValueType, typed_value, version_order
from memory.templates.models import DecisionTemplate


def _number(values: Values) -> Values:
    """The number that a value is. Raises InvalidInput if it is none of its type."""
    text, value_type = values["value"], values["value_type"]
    if value_type == ValueType.TEXT:
        return {"number": None}
    try:
        number = float(typed_value(text, value_type))
    except (ValueError, OverflowError):
        number = float("nan")
    if not isfinite(number):
        raise InvalidInput(f"value: {shown(text)} is no {ValueType(value_type).label}.")
    return {"number": number}


def _derived(values: Values) -> Values:
    return {**_number(values), "version_order": version_order(values["version"])}


register(
    Exported(
        Decision,
        derived=("number", "version_order"),
        derive=_derived,
        linked=("value", "rationale", "reason", "alternatives", "tradeoffs"),
        cleaners={
            "paths": cleaners.globs,
            "alternatives": cleaners.entries,
            "tradeoffs": cleaners.object_,
            "metadata": cleaners.object_,
        },
        kind="decision",
        natural=("key",),
        has_ids=False,
        parts=(
            Part(
                DecisionRevision,
                derived=("number",),
                derive=_number,
                cleaners={"data": cleaners.object_},
                name="revisions",
                owner="decision_id",
            ),
        ),
    ),
    Exported(
        DecisionTemplate,
        derived=("folded",),
        derive=folded_name,
        cleaners={
            "defaults": cleaners.object_,
            "require": cleaners.texts,
            "patterns": cleaners.object_,
        },
        kind="template",
        natural=("folded",),
        has_ids=False,
    ),
)
