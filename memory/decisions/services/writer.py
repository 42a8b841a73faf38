"""Writes decisions to their tables, many at once: rows, links, revisions and events."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from ctxhub.core.history import Change
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.unset import UNSET, if_set
from ctxhub.core.registry import refuse_ref_as_name
from ctxhub.core.vocabulary.selectors.names import Vocabulary, find_vocabulary
from ctxhub.core.vocabulary.services.names import register_words
from memory.decisions.history.decisions import HISTORY, DecisionChange
from memory.decisions.inputs.decisions import DecisionFields
from memory.decisions.rows.decisions import DECISIONS, DecisionRow, read_decisions, used_versions
from memory.decisions.rules.decisions import decide
from memory.decisions.sql.writes import touch_links, upsert_decisions, write_links


def write_decisions(caller: Caller, items: Sequence[DecisionFields]) -> list[DecisionChange | CtxhubError]:
    """Write the items; one change or error for each. A key that occurs n times takes n rounds."""
    outcomes: dict[int, DecisionChange | CtxhubError] = {}
    waiting = dict(enumerate(items))
    at = clock.now()
    while waiting:
        first_of_key: dict[str, int] = {}
        for index, fields in waiting.items():
            first_of_key.setdefault(fields.key, index)
        chosen = list(first_of_key.values())
        written = _write_round(caller, [waiting.pop(n) for n in chosen], _later(at, len(outcomes)))
        outcomes |= zip(chosen, written, strict=True)
    return [outcomes[index] for index in range(len(items))]


def _write_round(
    caller: Caller, items: Sequence[DecisionFields], at: datetime
) -> list[DecisionChange | CtxhubError]:
    """Write items with different keys, each a microsecond later, so that event cursors keep their order."""
    stored = read_decisions(caller.project_id, [fields.key for fields in items])
    vocabulary = find_vocabulary(
        caller.project_id,
        agent=caller.agent,
        tags=[tag for fields in items for tag in if_set(fields.tags, ())],
        scopes=[scope for fields in items for scope in if_set(fields.scopes, ())],
        layers=any(fields.layer for fields in items),
    )
    outcomes: list[DecisionChange | CtxhubError] = []
    for index, fields in enumerate(_with_new_versions(caller, items, stored)):
        try:
            outcomes.append(_change(caller, fields, stored.get(fields.key), vocabulary, _later(at, index)))
        except CtxhubError as error:
            outcomes.append(error)
    changes = [o for o in outcomes if isinstance(o, Change) and (o.old is None or o.changed)]
    stored_changes = store_changes(caller, changes, vocabulary, at) if changes else {}
    return [stored_changes.get(o.row.key, o) if isinstance(o, Change) else o for o in outcomes]


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
    caller: Caller, changes: Sequence[DecisionChange], vocabulary: Vocabulary, at: datetime
) -> dict[str, DecisionChange]:
    """Write the rows, their links, revisions and events. Returns the changes as they are stored, by key."""
    register_words(
        vocabulary,
        caller=caller,
        tags=[tag for change in changes if _is_written(change, "tags") for tag in change.row.tags],
        scopes=[scope for change in changes if _is_written(change, "scopes") for scope in change.row.scopes],
        at=at,
    )
    rows = [_as_spelled(change.row, vocabulary) for change in changes]
    ids = upsert_decisions(caller.project_id, rows)
    moments = {ids[row.key]: row.updated_at for row in rows}
    for name, links in DECISIONS.links.items():
        wanted = {
            ids[change.row.key]: [vocabulary.word_id(name, word) for word in getattr(change.row, name)]
            for change in changes
            if _is_written(change, name)
        }
        kept = [c.row.id for c in changes if not _is_written(c, name) and getattr(c.row, name)]
        write_links(links, caller.project_id, wanted, {c.old.id for c in changes if c.old}, moments)
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


def _as_spelled(row: DecisionRow, vocabulary: Vocabulary) -> DecisionRow:
    """The row as it is stored: with the id of its author, and words in the project's spelling."""
    return replace(
        row,
        agent_id=vocabulary.agent_id,
        tags=[vocabulary.spelled("tag", tag) for tag in row.tags],
        scopes=[vocabulary.spelled("scope", scope) for scope in row.scopes],
    )
