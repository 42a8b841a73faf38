"""Converts the reasons of sqlew decisions."""

import json
from typing import Any

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.importers.shared.normalising import Normaliser
from ctxhub.importers.sqlew.rows import Reasons
from memory.decisions.inputs import DecisionArguments, clean_fields


def clean_reasons(caller: Caller, key: str, old: Reasons, normaliser: Normaliser) -> dict[str, Any]:
    """Fields rationale, alternatives, tradeoffs or metadata of a decision; empty if invalid."""
    value: DecisionArguments = {
        "rationale": old.rationale or "",
        "alternatives": _alternatives(old.alternatives),
        **_tradeoffs(old.tradeoffs),
    }
    try:
        fields = clean_fields(caller, key=key, value="", **value)
    except InvalidInput as error:
        normaliser.leave("rationales", key, error)
        return {}
    return {name: getattr(fields, name) for name in value}


def _alternatives(value: Any) -> list[Any]:
    """A list of alternatives; sqlew stores texts, objects of any form, or one text for all."""
    items = value if isinstance(value, list) else [value] if value else []
    return [_alternative(entry) for entry in items]


def _alternative(entry: Any) -> Any:
    if isinstance(entry, dict) and isinstance(option := entry.get("option") or entry.get("name"), str):
        why_not = entry.get("why_not") or entry.get("reason") or entry.get("rejected_reason")
        return {"option": option, **({"why_not": why_not} if why_not else {})}
    return entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False)


def _tradeoffs(value: Any) -> DecisionArguments:
    """{pros, cons} as lists of texts; any other form goes to metadata."""
    if isinstance(value, dict) and set(value) <= {"pros", "cons"}:
        return {"tradeoffs": {side: _texts(items) for side, items in value.items()}}
    return {"metadata": {"tradeoffs": value}} if value else {}


def _texts(items: Any) -> list[str]:
    items = items if isinstance(items, list) else [items]
    return [entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False) for entry in items]
