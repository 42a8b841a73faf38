"""Which sessions of an agent are current: its own table of when each was heard of, a row a session."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from sessions.given.queries import Reader
from sessions.windows.calls import CURRENT_FOR

TABLE = "agent_sessions_presence"
AT_ONCE = 1_000

Place = tuple[int | None, str]
"""The id of a session, or the name of one that does not exist yet; (None, ""): calls without a session."""
NOWHERE: Place = (None, "")


@frozen
class Work:
    """A session of one agent: when it began, and when it was last heard of."""

    place: Place
    began: datetime
    last: datetime
    continues: bool = False


def current_places(works: Iterable[Work]) -> set[Place]:
    """The places of one agent's work that are current."""
    names = {name: (row_id, "") for work in works for row_id, name in [work.place] if row_id and name}
    joined: dict[Place, Work] = {}
    for work in works:
        place = _own(work.place, names)
        joined[place] = _joined(joined.get(place), Work(place, work.began, work.last, work.continues))
    first = _first_of_its_own(joined)
    if first:
        nowhere = joined.pop(NOWHERE)
        joined[first.place] = _joined(first, nowhere)
    begins = {place: work.began for place, work in joined.items()}
    found = {
        place
        for place, work in joined.items()
        if not any(began > work.last for other, began in begins.items() if other != place)
    }
    ids = {row_id for row_id, _ in found if row_id}
    named = {(None, name) for name, (row_id, _) in names.items() if row_id in ids}
    return found | named | ({NOWHERE} if first and first.place in found else set())


def _own(place: Place, names: Mapping[str, Place]) -> Place:
    row_id, name = place
    return (row_id, "") if row_id else names.get(name, place)


def _joined(one: Work | None, other: Work) -> Work:
    if one is None:
        return other
    return Work(
        one.place, min(one.began, other.began), max(one.last, other.last), one.continues or other.continues
    )


def _first_of_its_own(works: Mapping[Place, Work]) -> Work | None:
    """The first session that was made after calls without one, and continues none."""
    if NOWHERE not in works:
        return None
    since = works[NOWHERE].began
    made = [work for place, work in works.items() if place != NOWHERE and work.began > since]
    first = min(made, key=lambda work: work.began, default=None)
    return first if first and not first.continues else None


class Seen(NamedTuple):
    """An agent was given something or wrote it, in a session, from `began_at` to `at`.

    `session_id`: None for calls that belonged to no session.
    """

    agent_id: int
    session_id: int | None
    session_name: str
    began_at: datetime
    at: datetime


def write_presences(project_id: int, seen: Iterable[Seen]) -> None:
    """Store when sessions were heard of. After a day of silence, one begins anew."""
    joined: dict[tuple[int, int, str], Seen] = {}
    for each in seen:
        key = (each.agent_id, each.session_id or 0, each.session_name)
        known = joined.get(key, each)
        joined[key] = each._replace(began_at=min(known.began_at, each.began_at), at=max(known.at, each.at))
    if not joined:
        return
    anew = f"{TABLE}.at < {sql.days_before('excluded.began_at', 1)}"
    for some in sql.chunks([*joined.items()], AT_ONCE):
        sql.insert(
            TABLE,
            ("project_id", "agent_id", "session_id", "session_name", "began_at", "at"),
            [(project_id, *key, sql.stored_time(s.began_at), sql.stored_time(s.at)) for key, s in some],
            "ON CONFLICT (agent_id, session_id, session_name) DO UPDATE SET"
            f" began_at = CASE WHEN {anew} OR excluded.began_at < {TABLE}.began_at"
            f" THEN excluded.began_at ELSE {TABLE}.began_at END,"
            f" at = CASE WHEN excluded.at > {TABLE}.at THEN excluded.at ELSE {TABLE}.at END",
        )


def delete_presences(project_id: int, before: datetime, at_most: int) -> None:
    """Delete the oldest ones that ended before a time."""
    oldest = f"SELECT id FROM {TABLE} WHERE project_id = %s AND at < %s ORDER BY at LIMIT %s"
    sql.execute(
        f"DELETE FROM {TABLE} WHERE {sql.among_found('id', oldest)}",
        [project_id, sql.stored_time(before), at_most],
    )


def current_readers(project_id: int, readers: Sequence[Reader], now: datetime) -> list[Reader]:
    """Those of the readers whose session is current. One that was not heard of for 24 hours is over."""
    if not readers:
        return []
    since = now - CURRENT_FOR
    works: dict[int, list[Work]] = {}
    for agent_id, work in _find_works(project_id, sorted({reader.agent_id for reader in readers}), since):
        works.setdefault(agent_id, []).append(work)
    for reader in readers:
        if reader.at > since:
            works.setdefault(reader.agent_id, []).append(Work(_place(reader), reader.at, reader.at))
    current = {agent_id: current_places(some) for agent_id, some in works.items()}
    return [reader for reader in readers if _place(reader) in current.get(reader.agent_id, ())]


def _find_works(project_id: int, agent_ids: Sequence[int], since: datetime) -> list[tuple[int, Work]]:
    """The sessions of agents that were heard of after a time."""
    moment = sql.stored_time(since)
    among, agents = sql.among("agent_id", agent_ids)
    found = sql.rows(
        f"""
        SELECT agent_id, nullif(session_id, 0), session_name, began_at, at, 0
        FROM {TABLE} WHERE project_id = %s AND {among} AND at > %s
        UNION ALL
        SELECT agent_id, id, name, created_at, updated_at, CASE WHEN parent_id IS NULL THEN 0 ELSE 1 END
        FROM agent_sessions_agentsession WHERE project_id = %s AND {among} AND updated_at > %s""",
        [project_id, *agents, moment, project_id, *agents, moment],
    )
    return [
        (agent_id, Work((row_id, name), sql.read_time(began), sql.read_time(last), bool(continues)))
        for agent_id, row_id, name, began, last, continues in found
    ]


def _place(reader: Reader) -> Place:
    return (reader.session_id, "") if reader.session_id else (None, reader.session_name)
