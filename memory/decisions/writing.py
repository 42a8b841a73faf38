"""Computes the new states of decisions and writes them, many at once: rows, links, revisions and events."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from ctxhub.core.history import Change
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller, for_readers
from ctxhub.core.kit.errors import Conflict, CtxhubError
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import merge_object
from ctxhub.core.kit.listing import preview
from ctxhub.core.kit.metadata import changed_metadata
from ctxhub.core.kit.unset import UNSET, Unset, if_set
from ctxhub.core.registry import refuse_ref_as_name
from ctxhub.core.vocabulary.names import Vocabulary, find_vocabulary, register_words
from memory.decisions.history import HISTORY, DecisionChange, touch_links, upsert_decisions, write_links
from memory.decisions.inputs import DecisionFields, plain_number, stored_number
from memory.decisions.models import DecisionStatus, ValueType
from memory.decisions.rows import DECISIONS, DecisionRow, read_decisions, used_versions
from memory.decisions.versions import FIRST_VERSION, bump


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


@frozen
class Round:
    """Items, what is stored under their keys, and what becomes of the first with each: a change, or an error.

    Not yet written.
    """

    items: Sequence[DecisionFields]
    stored: Mapping[str, DecisionRow]
    outcomes: Sequence[DecisionChange | CtxhubError]
    vocabulary: Vocabulary

    @property
    def written(self) -> list[DecisionChange]:
        return [o for o in self.outcomes if isinstance(o, Change) and (o.old is None or o.changed)]


def write_decisions(caller: Caller, first: Round) -> list[DecisionChange | CtxhubError]:
    """Write the items of a round; one change or error for each. A key that occurs n times takes n rounds."""
    at = clock.now()
    chosen = _first_of_keys(first.items, range(len(first.items)))
    outcomes = dict(zip(chosen, _write_round(caller, first, at), strict=True))
    while waiting := [n for n in range(len(first.items)) if n not in outcomes]:
        chosen = _first_of_keys(first.items, waiting)
        following = prepare_decisions(caller, [first.items[n] for n in chosen])
        written = _write_round(caller, following, _later(at, len(outcomes)))
        outcomes |= zip(chosen, written, strict=True)
    return [outcomes[index] for index in range(len(first.items))]


def _first_of_keys(items: Sequence[DecisionFields], numbers: Iterable[int]) -> list[int]:
    """Those of the numbers whose items are the first with their keys."""
    found: dict[str, int] = {}
    for number in numbers:
        found.setdefault(items[number].key, number)
    return list(found.values())


def prepare_decisions(caller: Caller, all_items: Sequence[DecisionFields]) -> Round:
    """Read what the items meet, the first with each key, and compute what they make of it. Writes nothing."""
    items = [all_items[n] for n in _first_of_keys(all_items, range(len(all_items)))]
    stored = read_decisions(caller.project_id, [fields.key for fields in items])
    vocabulary = find_vocabulary(
        caller.project_id,
        agent=caller.agent,
        tags=[tag for fields in items for tag in if_set(fields.tags, ())],
        scopes=[scope for fields in items for scope in if_set(fields.scopes, ())],
        layers=any(fields.layer for fields in items),
    )
    at = clock.now()
    outcomes: list[DecisionChange | CtxhubError] = []
    for fields in _with_new_versions(caller, items, stored):
        try:
            outcomes.append(_change(caller, fields, stored.get(fields.key), vocabulary, at))
        except CtxhubError as error:
            outcomes.append(error)
    prepared = Round(all_items, stored, outcomes, vocabulary)
    HISTORY.prepare(prepared.written)
    return prepared


def _write_round(caller: Caller, prepared: Round, at: datetime) -> list[DecisionChange | CtxhubError]:
    """Write a round, each change a microsecond later, so that event cursors keep their order."""
    changes = prepared.written
    moments = [_later(at, index) for index in range(len(changes))]
    stored = store_changes(caller, changes, prepared.vocabulary, at, moments) if changes else {}
    return [stored.get(o.row.key, o) if isinstance(o, Change) else o for o in prepared.outcomes]


def _change(
    caller: Caller, fields: DecisionFields, old: DecisionRow | None, vocabulary: Vocabulary, at: datetime
) -> DecisionChange:
    """Return the change that `fields` make; an actual change of an old row sets author and time."""
    if old is None:
        refuse_ref_as_name(fields.key, "decision", "key")
    new = decide(fields, old, vocabulary, caller.agent, at)
    change = HISTORY.change(old, new)
    if old is not None and change.changed:
        return HISTORY.change(old, replace(new, agent=caller.agent, updated_at=at))
    return change


def _later(at: datetime, microseconds: int) -> datetime:
    return at + timedelta(microseconds=microseconds)


def _with_new_versions(
    caller: Caller, items: Sequence[DecisionFields], stored: Mapping[str, DecisionRow]
) -> list[DecisionFields]:
    """Ignore versions that an older revision has: a stale `expected_version` must not match again."""
    requested = {
        (stored[fields.key].id, fields.version)
        for fields in items
        if fields.key in stored and fields.version not in (UNSET, stored[fields.key].version)
    }
    used = used_versions(caller.project_id, requested) if requested else set()
    return [
        replace(fields, version=UNSET)
        if fields.key in stored and (stored[fields.key].id, fields.version) in used
        else fields
        for fields in items
    ]


def store_changes(
    caller: Caller,
    changes: Sequence[DecisionChange],
    vocabulary: Vocabulary,
    at: datetime,
    moments: Sequence[datetime],
) -> dict[str, DecisionChange]:
    """Write the rows, their links, revisions and events. Returns the changes as they are stored, by key.

    `moments`: when each is made.
    """
    register_words(
        vocabulary,
        caller=caller,
        tags=[tag for change in changes if _is_written(change, "tags") for tag in change.row.tags],
        scopes=[scope for change in changes if _is_written(change, "scopes") for scope in change.row.scopes],
        at=at,
    )
    rows = [_as_stored(change, vocabulary, moment) for change, moment in zip(changes, moments, strict=True)]
    ids = upsert_decisions(caller.project_id, rows)
    written_at = {ids[row.key]: row.updated_at for row in rows}
    for name, links in DECISIONS.links.items():
        wanted = {
            ids[change.row.key]: [vocabulary.word_id(name, word) for word in getattr(change.row, name)]
            for change in changes
            if _is_written(change, name)
        }
        kept = [c.row.id for c in changes if not _is_written(c, name) and getattr(c.row, name)]
        write_links(links, caller.project_id, wanted, {c.old.id for c in changes if c.old}, written_at)
        touch_links(links, kept)
    stored = {
        row.key: HISTORY.change(change.old, row if row.id else replace(row, id=ids[row.key]))
        for change, row in zip(changes, rows, strict=True)
    }
    HISTORY.record(
        project_id=caller.project_id, agent_id=vocabulary.agent_id, changes=[*stored.values()], at=at
    )
    return stored


def _is_written(change: DecisionChange, name: str) -> bool:
    """Whether the field has to be written: it changed, or the row is new."""
    return change.old is None or name in change.changed


def _as_stored(change: DecisionChange, vocabulary: Vocabulary, at: datetime) -> DecisionRow:
    """The row as it is stored: with its times, the id of its author, and words in the project's spelling."""
    row = change.row
    return replace(
        row,
        created_at=change.old.created_at if change.old else at,
        updated_at=at,
        agent_id=vocabulary.agent_id,
        tags=[vocabulary.spelled("tag", tag) for tag in row.tags],
        scopes=[vocabulary.spelled("scope", scope) for scope in row.scopes],
    )
