"""Computes the new state of a decision from its fields and its old state. No database access."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from ctxhub.core.kit.caller import for_readers
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.kit.inputs import merge_object
from ctxhub.core.kit.listing import preview
from ctxhub.core.kit.metadata import changed_metadata
from ctxhub.core.kit.unset import Unset, if_set
from ctxhub.core.vocabulary.selectors.names import Vocabulary
from memory.decisions.inputs.decisions import DecisionFields, plain_number, stored_number
from memory.decisions.models.decision import DecisionStatus, ValueType
from memory.decisions.rows.decisions import DecisionRow
from memory.decisions.rules.versions import FIRST_VERSION, bump


def decide(
    fields: DecisionFields, old: DecisionRow | None, vocabulary: Vocabulary, agent: str, at: datetime
) -> DecisionRow:
    """Return the decision with `fields` applied; UNSET fields keep the old value, or the default.

    Keeps the author and times of `old`. Raises Conflict if `expected_version` does not match, InvalidInput
    for an unknown layer.
    """
    check_expected(fields.key, fields.expected_version, old)
    fields = _with_number(fields, old)
    base = old or _blank(fields.key, agent, at)
    layer_id, layer = base.layer_id, base.layer
    if not isinstance(fields.layer, Unset):
        layer_id, layer = vocabulary.layer(fields.layer) if fields.layer else (None, None)
    new = replace(
        base,
        value=if_set(fields.value, base.value),
        value_type=if_set(fields.value_type, base.value_type),
        status=if_set(fields.status, base.status),
        layer=layer,
        layer_id=layer_id,
        tags=if_set(fields.tags, base.tags),
        scopes=if_set(fields.scopes, base.scopes),
        paths=if_set(fields.paths, base.paths),
        rationale=if_set(fields.rationale, base.rationale),
        alternatives=if_set(fields.alternatives, base.alternatives),
        tradeoffs=_changed_tradeoffs(base.tradeoffs, fields.tradeoffs),
        metadata=changed_metadata(base.metadata, fields.metadata),
        version=_next_version(fields, old),
    )
    if base.status == DecisionStatus.DEPRECATED != new.status:
        new = replace(new, reason="", superseded_by=None, superseded_by_id=None)
    return new


def _with_number(fields: DecisionFields, old: DecisionRow | None) -> DecisionFields:
    """The fields with the number that their text is, on a key that has a number, or if `numeric` says so.

    Clients that can only send texts would turn a number into one.
    """
    if isinstance(fields.value, Unset) or fields.value_type != ValueType.TEXT or fields.numeric is False:
        return fields
    is_numeric = fields.numeric is True or (old is not None and old.value_type != ValueType.TEXT)
    number = plain_number(fields.value) if is_numeric else None
    if number is None:
        return fields
    value, value_type = stored_number(number)
    return replace(fields, value=value, value_type=value_type)


def is_converted(fields: DecisionFields, row: DecisionRow) -> bool:
    """Whether the text of the fields was stored as a number."""
    return fields.value_type == ValueType.TEXT != row.value_type


def _changed_tradeoffs(stored: Mapping[str, Any], value: Mapping[str, Any] | Unset) -> Mapping[str, Any]:
    """Replace the stored tradeoffs. If the value holds a null, merge it instead: null removes that side."""
    if isinstance(value, Unset):
        return stored
    return merge_object(stored, value) if None in value.values() else value


def _next_version(fields: DecisionFields, old: DecisionRow | None) -> str:
    if old is None:
        return if_set(fields.version, FIRST_VERSION)
    value, value_type = if_set(fields.value, old.value), if_set(fields.value_type, old.value_type)
    same_value = (value, value_type) == (old.value, old.value_type)
    version = if_set(fields.version, old.version)
    # A new value under the current version would make two versions with the same name.
    return version if same_value or version != old.version else bump(old.version)


def check_expected(key: str, expected: str | Unset, old: DecisionRow | None) -> None:
    """Raise Conflict, with the current version and value, unless the decision is at the expected version."""
    if isinstance(expected, Unset) or (old is not None and old.version == expected):
        return
    if old is None:
        raise Conflict(
            f"{key!r} does not exist, so it is not at version {expected}.",
            hint="Leave it out.",
            about=f"decision:{key}",
        )
    value = preview(old.typed_value)
    raise for_readers(
        Conflict(
            f"{key!r} is at version {old.version}, not {expected}; its value is {value!r}.",
            hint="Read it again, then set it with the version you have read.",
            current={"version": old.version, "value": value},
            about=f"decision:{key}",
        ),
        otherwise=f"{key!r} is not at version {expected}.",
    )


def _blank(key: str, agent: str, at: datetime) -> DecisionRow:
    return DecisionRow(
        key=key,
        value="",
        value_type=ValueType.TEXT,
        version=FIRST_VERSION,
        status=DecisionStatus.ACTIVE,
        agent=agent,
        agent_id=None,
        created_at=at,
        updated_at=at,
    )
