"""Why an old decision was taken, in the form that a decision keeps it in here."""

import json
from typing import Any

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.importers.shared.normalising import Fitting
from ctxhub.importers.sqlew.rows import Reasons
from memory.decisions.inputs.decisions import DecisionArguments, clean_fields


def clean_reasons(caller: Caller, key: str, old: Reasons, fit: Fitting) -> dict[str, Any]:
    """Rationale, alternatives and tradeoffs as a decision has them here, where they can be kept."""
    said: DecisionArguments = {
        "rationale": old.rationale or "",
        "alternatives": _alternatives(old.alternatives),
        **_tradeoffs(old.tradeoffs),
    }
    try:
        fields = clean_fields(caller, key=key, value="", **said)
    except InvalidInput as error:
        fit.leave("rationales", key, error)
        return {}
    return {name: getattr(fields, name) for name in said}


def _alternatives(said: Any) -> list[Any]:
    """sqlew takes texts, objects of any form, or one text for all."""
    listed = said if isinstance(said, list) else [said] if said else []
    return [_alternative(entry) for entry in listed]


def _alternative(entry: Any) -> Any:
    if isinstance(entry, dict) and isinstance(option := entry.get("option") or entry.get("name"), str):
        why_not = entry.get("why_not") or entry.get("reason") or entry.get("rejected_reason")
        return {"option": option, **({"why_not": why_not} if why_not else {})}
    return entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False)


def _tradeoffs(said: Any) -> DecisionArguments:
    """{pros, cons} with texts in both; anything else is kept beside it, as metadata."""
    if isinstance(said, dict) and set(said) <= {"pros", "cons"}:
        return {"tradeoffs": {side: _texts(entries) for side, entries in said.items()}}
    return {"metadata": {"tradeoffs": said}} if said else {}


def _texts(entries: Any) -> list[str]:
    listed = entries if isinstance(entries, list) else [entries]
    return [entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False) for entry in listed]
