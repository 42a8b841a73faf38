"""Records in the background what agents were given, and what they wrote."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from django.db import transaction

from ctxhub.core import registry
from ctxhub.core.accounts.config import configs_of
from ctxhub.core.events.cleanup import REMOVED_AT_ONCE
from ctxhub.core.given import GivenAnswer
from ctxhub.core.history import Change
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.answers import size
from ctxhub.core.kit.background import BackgroundWriter
from ctxhub.core.kit.caller import Caller, current
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.kit.listing import with_rows
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.text.token_count import count_tokens
from ctxhub.core.vocabulary.names import register_agent
from sessions.given.presences import NOWHERE, Place, Seen, delete_presences, write_presences
from sessions.given.queries import NewBriefing, NewItem, delete_briefings, insert_briefings, insert_items
from sessions.nudges.telling import tell_of_missed_changes
from sessions.windows.calls import CURRENT_FOR, find_places

AT_ONCE = 1_000
TABLE = "agent_sessions_writing"
COLUMNS = (
    *("project_id", "agent_id", "kind", "object_id", "session_id", "session_name", "version"),
    *("began_at", "at"),
)


class NewWriting(NamedTuple):
    """`session_id`: None for none."""

    agent_id: int
    kind: str
    object_id: int
    session_id: int | None
    session_name: str
    version: str
    at: datetime


def write_writings(project_id: int, writings: Sequence[NewWriting]) -> list[int]:
    """Store that agents wrote things, the last version of each in a session; returns the ids of the rows."""
    newest = {each[:5]: each for each in sorted(writings, key=lambda each: each.at)}
    found: list[tuple[int]] = []
    for some in sql.chunks([*newest.values()], AT_ONCE):
        found += sql.insert(
            TABLE,
            COLUMNS,
            [
                (
                    *(project_id, w.agent_id, w.kind, w.object_id, w.session_id or 0, w.session_name),
                    *(w.version, sql.stored_time(w.at), sql.stored_time(w.at)),
                )
                for w in some
            ],
            "ON CONFLICT (project_id, kind, object_id, agent_id, session_id, session_name)"
            " DO UPDATE SET version = excluded.version, at = excluded.at RETURNING id",
        )
    return [row_id for (row_id,) in found]


def delete_writings(project_id: int, before: datetime, at_most: int) -> None:
    """Delete the oldest ones from before a time."""
    oldest = f"SELECT id FROM {TABLE} WHERE project_id = %s AND at < %s ORDER BY at LIMIT %s"
    sql.execute(
        f"DELETE FROM {TABLE} WHERE {sql.among_found('id', oldest)}",
        [project_id, sql.stored_time(before), at_most],
    )


Ids = Mapping[tuple[str, str], int]
"""Ids of things by kind and by the name in a ref."""


@frozen
class Written:
    """What an agent wrote in a transaction. `caller`: None outside of calls and pages."""

    project_id: int
    agent_id: int
    caller: Caller | None
    things: Sequence["WrittenThing"]


@frozen
class WrittenThing:
    kind: str
    id: int
    version: str
    at: datetime


def record_given(entries: Sequence[GivenAnswer | Written]) -> None:
    """Write what was given and written, one transaction a project, and tell of what has changed meanwhile."""
    by_project: dict[int, tuple[list[GivenAnswer], list[Written]]] = {}
    for entry in entries:
        if isinstance(entry, Written):
            by_project.setdefault(entry.project_id, ([], []))[1].append(entry)
        else:
            by_project.setdefault(entry.caller.project_id, ([], []))[0].append(entry)
    for project_id, config in configs_of(by_project).items():
        if config.record_given:
            _record(project_id, *by_project[project_id])


def note_written(*, project_id: int, agent_id: int, changes: Sequence[Change[Any]], at: datetime) -> None:
    """Record, once the transaction is committed, that an agent knows what it writes."""
    things = [
        WrittenThing(
            change.history.kind,
            change.row.id,
            change.history.version(change.row),
            getattr(change.row, "updated_at", at),  # Those of a batch differ.
        )
        for change in changes
        if change.new and change.history.is_given_to_writers
    ]
    if things:
        caller = current()
        caller = caller if caller and caller.project_id == project_id else None
        written = Written(project_id, agent_id, caller, things)
        transaction.on_commit(partial(WRITER.put, written, len(things)))


def clean_briefings(project_id: int, now: datetime, days: int) -> dict[str, int]:
    """Delete what agents were given and wrote more than `days` ago (0: nothing), at most 500 of each."""
    delete_presences(project_id, now - CURRENT_FOR, REMOVED_AT_ONCE)
    if not days:
        return {}
    before = now - timedelta(days=days)
    delete_writings(project_id, before, REMOVED_AT_ONCE)
    count = delete_briefings(project_id, before, REMOVED_AT_ONCE)
    return {"briefings": count} if count else {}


def _record(project_id: int, answers: Sequence[GivenAnswer], writes: Sequence[Written]) -> None:
    ids = _find_ids(project_id, answers)
    found = [answer for answer in answers if any((i.kind, i.name) in ids for i in answer.items)]
    tokens = [count_answer(answer.answer) for answer in found]
    if not found and not writes:
        return
    with write_transaction(project_id):
        agents = _find_agents(project_id, [answer.caller for answer in found], writes)
        callers = [*(answer.caller for answer in found), *(_caller_of(write, agents) for write in writes)]
        places = _find_places(project_id, callers, agents)
        briefings = [
            NewBriefing(agents[answer.caller.agent.casefold()], *place, answer.via, count, answer.at)
            for answer, place, count in zip(found, places[: len(found)], tokens, strict=True)
        ]
        briefing_ids = insert_briefings(project_id, briefings) if briefings else []
        insert_items(project_id, list(_items(briefing_ids, found, ids)))
        writings = list(_writings(writes, places[len(found) :], {*agents.values()}))
        writing_ids = write_writings(project_id, writings) if writings else []
        write_presences(project_id, [*map(_seen, briefings), *map(_seen, writings)])
        tell_of_missed_changes(
            project_id=project_id, briefing_ids=briefing_ids, writing_ids=writing_ids, at=clock.now()
        )


def count_answer(answer: Any) -> int | None:
    """The tokens of an answer; None if it was not kept."""
    answer = answer() if callable(answer) else answer
    if answer is None or isinstance(answer, str):
        return None if answer is None else count_tokens(answer)
    return size(with_rows(answer))


def _find_ids(project_id: int, answers: Iterable[GivenAnswer]) -> Ids:
    """With a query for each kind whose names are not the ids."""
    names: dict[str, dict[str, None]] = {}
    for answer in answers:
        for item in answer.items:
            names.setdefault(item.kind, {})[item.name] = None
    found: dict[tuple[str, str], int] = {}
    for kind, some in names.items():
        noun = registry.find_noun(kind)
        known = noun.ids_of(project_id, list(some)) if noun and noun.ids_of else _read_ids(some)
        found |= {(kind, name): row_id for name, row_id in known.items()}
    return found


def _read_ids(names: Iterable[str]) -> Mapping[str, int]:
    return {name: row_id for name in names if (row_id := read_id(name))}


def _find_agents(project_id: int, callers: Iterable[Caller], writes: Iterable[Written]) -> Mapping[str, int]:
    """The ids of the agents by case-folded name. One that is new is registered, as its first call does."""
    by_name = {caller.agent.casefold(): caller for caller in callers}
    named, names = sql.among("folded", list(by_name)) if by_name else ("1 = 0", [])
    wrote, ids = sql.among("id", list({write.agent_id for write in writes})) if writes else ("1 = 0", [])
    known: dict[str, int] = dict(
        sql.rows(
            f"SELECT folded, id FROM core_agent WHERE project_id = %s AND ({named} OR {wrote})",
            [project_id, *names, *ids],
        )
    )
    new = {name: register_agent(by_name[name], clock.now()) for name in by_name if name not in known}
    return known | new


def _caller_of(write: Written, agents: Mapping[str, int]) -> Caller | None:
    """Who wrote, with the session; None if the current caller acted for another agent."""
    caller = write.caller
    return caller if caller and agents.get(caller.agent.casefold()) == write.agent_id else None


def _find_places(project_id: int, callers: Sequence[Caller | None], agents: Mapping[str, int]) -> list[Place]:
    """The sessions of calls. What is written outside of calls belongs to none."""
    found = iter(find_places(project_id, [c for c in callers if c], agents, clock.now()))
    return [next(found) if caller else NOWHERE for caller in callers]


def _writings(
    writes: Iterable[Written], places: Iterable[Place], agent_ids: Collection[int]
) -> Iterator[NewWriting]:
    """An agent that was removed meanwhile knows nothing."""
    for write, place in zip(writes, places, strict=True):
        if write.agent_id in agent_ids:
            for thing in write.things:
                yield NewWriting(write.agent_id, thing.kind, thing.id, *place, thing.version, thing.at)


def _seen(entry: NewBriefing | NewWriting) -> Seen:
    return Seen(entry.agent_id, entry.session_id, entry.session_name, entry.at, entry.at)


def _items(briefing_ids: Sequence[int], answers: Sequence[GivenAnswer], ids: Ids) -> Iterator[NewItem]:
    for briefing_id, answer in zip(briefing_ids, answers, strict=True):
        for item in answer.items:
            if row_id := ids.get((item.kind, item.name)):
                yield NewItem(briefing_id, item.kind, row_id, item.version, item.detail)


WRITER: BackgroundWriter[GivenAnswer | Written] = BackgroundWriter(
    "recording what agents were given", record_given
)
