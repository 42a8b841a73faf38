"""Saves and deletes snapshots."""

from collections.abc import Mapping, Sequence, Set
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Annotated, NotRequired, Unpack

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.call_sessions import find_session_id, open_session_id
from ctxhub.core.emptying import delete_objects
from ctxhub.core.hub.direct_links import get_head, link_cause
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import NotFound
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.links import Head, ObjectKey
from ctxhub.core.search.similarity import Rarity, count_words, read_spread, vector
from ctxhub.core.text.plurals import counted
from ctxhub.core.vocabulary.names import Vocabulary, find_vocabulary, register_words
from ctxhub.toolbox.argument_types import About
from memory.snapshots.causes import count_dependents, insert_dependencies, read_known_ids, read_newest_ids
from memory.snapshots.history import HISTORY
from memory.snapshots.inputs import SnapshotArguments, SnapshotFields, clean_snapshot, summary_of
from memory.snapshots.models import Tier
from memory.snapshots.queries import TierLabel, get_snapshot, unknown_snapshot
from memory.snapshots.queries import count_dependents as count_all_dependents
from memory.snapshots.rows import LISTED, SNAPSHOTS, SnapshotRow

TAGS = 5
# Tags that are looked at, the oldest first.
MOST_TAGS = 5_000
# Snapshots in the sample that the rarity of words is computed from.
SPREAD = 200


def find_tags(project_id: int, text: str) -> list[str]:
    """At most 5 tags whose words all stand in the text; those of the highest TF-IDF, best first."""
    counts = count_words(text)
    stems = {name: _stems(name) for name in _names(project_id)}
    found = [name for name, words in stems.items() if words and words <= counts.keys()]
    if len(found) <= TAGS:
        return found
    weights = vector(counts, Rarity.of_texts(read_spread(project_id, "snapshot", SPREAD))).weights
    return sorted(found, key=lambda name: (-_mean([weights[word] for word in stems[name]]), name))[:TAGS]


def _names(project_id: int) -> list[str]:
    rows = sql.rows(
        "SELECT name FROM core_tag WHERE project_id = %s ORDER BY id LIMIT %s", [project_id, MOST_TAGS]
    )
    return [name for (name,) in rows]


@lru_cache(MOST_TAGS)
def _stems(name: str) -> Set[str]:
    return frozenset(count_words(name))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


# What a snapshot rests on if its author does not say: the last ones of the same agent.
DEPENDENCIES = 5
DEPENDENCIES_SINCE = timedelta(hours=1)


class SaveAnswer(TypedDict):
    id: int
    summary: str
    tags: list[str]
    tier: TierLabel
    caused_by: Annotated[int | str | None, About("The id of its cause, or its ref if that is no snapshot.")]
    dependencies: Annotated[list[int], About("The ids of what it rests on besides.")]
    masked: NotRequired[Annotated[int, About("How many credentials of the content are masked.")]]


class DeleteAnswer(TypedDict):
    deleted: str
    children: Annotated[int, About("How many snapshots named it as their cause or dependency.")]


def save_snapshot(*, caller: Caller, content: str, **rest: Unpack[SnapshotArguments]) -> SaveAnswer:
    """Store a snapshot, in the session of the call.

    Absent: the summary is made of the content, tags are those of the project that the content is about,
    dependencies the agent's last 5 snapshots of an hour. `caused_by`: a snapshot, or the ref of anything
    else, on which it then depends by a relationship. Raises NotFound for an unknown cause or dependency.
    """
    caller = caller.in_session(rest.get("session"))
    fields = clean_snapshot(caller, content=content, **rest)
    wanted = find_tags(caller.project_id, fields.content) if fields.tags is None else fields.tags
    made = fields.summary or summary_of(fields.content)
    with write_transaction(caller.project_id):
        at = clock.now()
        vocabulary = find_vocabulary(caller.project_id, agent=caller.agent, tags=wanted)
        cause = _other_cause(caller.project_id, fields)
        rests_on = _dependencies(caller, fields, vocabulary.agent_id, at)
        names = _still_known(vocabulary, wanted) if fields.tags is None else wanted
        register_words(vocabulary, caller=caller, tags=names, at=at)
        session_id = _session_id(caller, vocabulary, at)
        row = _new_row(caller, fields, made, names, vocabulary, session_id, at)
        [new] = SNAPSHOTS.insert(caller.project_id, [row], vocabulary)
        insert_dependencies(caller.project_id, [(new.id, other) for other in rests_on])
        HISTORY.record(
            project_id=caller.project_id,
            agent_id=vocabulary.agent_id,
            changes=[HISTORY.change(None, new)],
            at=at,
        )
        if cause:
            _link_cause(caller.project_id, new, cause, at)
    return _answer(new, cause[1].name if cause else new.caused_by_id, rests_on, fields.masked)


def delete_snapshot(*, caller: Caller, snapshot_id: int) -> DeleteAnswer:
    """Delete a snapshot; what it caused keeps living, without a cause. The log keeps an event."""
    with write_transaction(caller.project_id):
        row = get_snapshot(caller.project_id, snapshot_id)
        children = count_dependents(row.id)
        delete_objects(caller, [row], history=HISTORY)
    return DeleteAnswer(deleted=HISTORY.ref(row), children=children)


def find_deletable_snapshots(caller: Caller, ids: Sequence[str]) -> Mapping[str, SnapshotRow | NotFound]:
    """The snapshot of each id, or the error for an unknown one."""
    return SNAPSHOTS.read_named(caller.project_id, ids, unknown_snapshot, (*LISTED, "tokens"))


def dependents_left(rows: Sequence[SnapshotRow]) -> Mapping[int, str]:
    """How many others rest on snapshots, and stay when these are deleted, in words."""
    counts = count_all_dependents([row.id for row in rows])
    return {
        row_id: f"{counted(count, 'snapshots')} that rested on it stay"
        if count > 1
        else "1 snapshot that rested on it stays"
        for row_id, count in counts.items()
        if count
    }


# -- Pieces ----------------------------------------------------------------------------------------


def _other_cause(project_id: int, fields: SnapshotFields) -> tuple[ObjectKey, Head] | None:
    """The cause if it is no snapshot. Raises NotFound if there is no such thing."""
    ref = fields.caused_by
    return get_head(project_id, ref, fields.cause_argument) if isinstance(ref, str) else None


def _link_cause(project_id: int, row: SnapshotRow, cause: tuple[ObjectKey, Head], at: datetime) -> None:
    effect, (key, head) = (HISTORY.kind, row.id), cause
    link_cause(project_id=project_id, agent_id=row.agent_id, effect=effect, cause=key, head=head, at=at)


def _dependencies(
    caller: Caller, fields: SnapshotFields, agent_id: int | None, at: datetime
) -> Sequence[int]:
    """The ids of what a new snapshot rests on. Raises NotFound for an unknown cause or dependency."""
    cause = fields.snapshot_cause
    named = {n: fields.cause_argument for n in [cause] if n is not None}
    named |= {n: "dependencies" for n in fields.dependencies or () if n not in named}
    known = read_known_ids(caller.project_id, list(named))
    for row_id, argument in named.items():
        if row_id not in known:
            raise unknown_snapshot(row_id, argument)
    if fields.dependencies is not None:
        return fields.dependencies
    if agent_id is None:
        return []
    return read_newest_ids(
        caller.project_id,
        agent_id,
        since=at - DEPENDENCIES_SINCE,
        before=at,
        at_most=DEPENDENCIES,
        except_id=cause or 0,
    )


def _still_known(vocabulary: Vocabulary, names: Sequence[str]) -> list[str]:
    return [name for name in names if name.casefold() in vocabulary.tags]


def _session_id(caller: Caller, vocabulary: Vocabulary, at: datetime) -> int | None:
    """The session of the call; only one that the call names is opened."""
    if not caller.session:
        return find_session_id(caller)
    assert vocabulary.agent_id
    return open_session_id(caller, vocabulary.agent_id, at)


def _new_row(
    caller: Caller,
    fields: SnapshotFields,
    summary: str,
    tags: Sequence[str],
    vocabulary: Vocabulary,
    session_id: int | None,
    at: datetime,
) -> SnapshotRow:
    return SnapshotRow(
        summary=summary,
        content=fields.content,
        tokens=fields.tokens,
        action_type=fields.action_type,
        rationale=fields.rationale,
        caused_by_id=fields.snapshot_cause,
        tags=[vocabulary.spelled("tag", tag) for tag in tags],
        source=fields.source,
        metadata=fields.metadata,
        session_id=session_id,
        agent=caller.agent,
        agent_id=vocabulary.agent_id,
        created_at=at,
        updated_at=at,
    )


def _answer(
    row: SnapshotRow, cause: int | str | None, dependencies: Sequence[int], masked: int
) -> SaveAnswer:
    answer = SaveAnswer(
        id=row.id,
        summary=row.summary,
        tags=sorted(row.tags, key=str.casefold),
        tier=str(Tier.ACTIVE.label),
        caused_by=cause,
        dependencies=list(dependencies),
    )
    if masked:
        answer["masked"] = masked
    return answer
