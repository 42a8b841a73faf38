"""What a decision becomes when it is set: pure rules, no database."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from ctxhub.core.kit.errors import Conflict
from ctxhub.core.kit.inputs import merge_object
from ctxhub.core.kit.listing import preview
from ctxhub.core.kit.metadata import changed_metadata
from ctxhub.core.kit.unset import Unset, if_set
from ctxhub.core.vocabulary.selectors.names import Vocabulary
from memory.decisions.inputs.decisions import DecisionFields
from memory.decisions.models.decision import DecisionStatus, ValueType
from memory.decisions.rows.decisions import DecisionRow
from memory.decisions.rules.versions import FIRST_VERSION, bump


def decide(
    fields: DecisionFields, old: DecisionRow | None, words: Vocabulary, agent: str, at: datetime
) -> DecisionRow:
    """What `fields` make of a decision; absent fields keep what stands. Of an old one author and time stay.

    Raises Conflict where `expected_version` does not match, InvalidInput for a layer the project does not
    have.
    """
    check_expected(fields.key, fields.expected_version, old)
    base = old or _blank(fields.key, agent, at)
    layer_id, layer = base.layer_id, base.layer
    if not isinstance(fields.layer, Unset):
        layer_id, layer = words.layer(fields.layer) if fields.layer else (None, None)
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


def _changed_tradeoffs(stored: Mapping[str, Any], said: Mapping[str, Any] | Unset) -> Mapping[str, Any]:
    """What is said takes the place of what is stored; a null in it removes that side alone."""
    if isinstance(said, Unset):
        return stored
    return merge_object(stored, said) if None in said.values() else said


def _next_version(fields: DecisionFields, old: DecisionRow | None) -> str:
    if old is None:
        return if_set(fields.version, FIRST_VERSION)
    value, value_type = if_set(fields.value, old.value), if_set(fields.value_type, old.value_type)
    same_value = (value, value_type) == (old.value, old.value_type)
    said = if_set(fields.version, old.version)
    # A new value under the version that stands would make two versions of one name.
    return said if same_value or said != old.version else bump(old.version)


def check_expected(key: str, expected: str | Unset, old: DecisionRow | None) -> None:
    """Raise Conflict, with the current version and value, unless the decision is at the expected version."""
    if isinstance(expected, Unset) or (old is not None and old.version == expected):
        return
    if old is None:
        raise Conflict(f"{key!r} does not exist, so it is not at version {expected}.", hint="Leave it out.")
    value = preview(old.typed_value)
    raise Conflict(
        f"{key!r} is at version {old.version}, not {expected}; its value is {value!r}.",
        hint="Read it again, then set it with the version you have read.",
        current={"version": old.version, "value": value},
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
