"""The event log: one event for each change, written in its transaction; read as activity and as news."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import Any

from django.dispatch import Signal

from ctxhub.core import registry
from ctxhub.core.accounts.named_agents import find_known_names, means_everyone, names_meant
from ctxhub.core.events.mail import count_urgent
from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import EventCursor, format_time
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_limit, clean_moment, clean_name, clean_names, clean_words
from ctxhub.core.kit.listing import Listing
from ctxhub.core.kit.ordering import Ordering, way_of
from ctxhub.core.models import Event

# Sent once for all changes of a `record` call, after they are written. Arguments: project_id, nouns, at,
# count.
recorded = Signal()

CHANNEL = "ctxhub_events"


@frozen
class Change:
    """An event to record: `verb` (past tense) happened to `ref`; `data` holds the details.

    `at` is set if one of several changes has a time of its own.
    """

    noun: str
    verb: str
    ref: str
    data: dict[str, Any] = field(default_factory=dict)
    at: datetime | None = None


def record(*, project_id: int, agent_id: int | None, changes: Sequence[Change], at: datetime) -> None:
    """Insert the events of a transaction in one statement, which must be its last."""
    if not changes:
        return
    moments = [sql.stored_time(change.at or at) for change in changes]
    records = [
        (project_id, c.noun, c.verb, c.ref, agent_id, moment, sql.stored_json(c.data))
        for c, moment in zip(changes, moments, strict=True)
    ]
    columns = ("project_id", "noun", "verb", "ref", "agent_id", "at", "data")
    sql.execute(*sql.inserting("core_event", columns, records, _notify(project_id)))
    nouns = {change.noun for change in changes}
    recorded.send(None, project_id=project_id, nouns=nouns, at=at, count=len(changes))


def _notify(project_id: int) -> str:
    """SQL that notifies listeners in all processes on commit, on PostgreSQL; on SQLite they poll."""
    return "" if sql.is_sqlite() else f"RETURNING pg_notify('{CHANNEL}', '{project_id:d}')"


NEW_EVENTS_READ = 10_000
VALUE_CHARACTERS = 40

# The verbs of events by the names of actions, which agents may use in the filter `verbs`.
VERBS_OF_ACTION = {
    "set": ("created", "updated"),
    "create": ("created",),
    "update": ("updated",),
    "deprecate": ("deprecated",),
    "delete": ("deleted",),
    "append": ("appended",),
    "restore": ("restored",),
    "confirm": ("confirmed",),
    "save": ("saved", "created"),
    "prune": ("pruned",),
    "close": ("closed",),
    "reopen": ("reopened",),
    "add": ("created",),
    "activate": ("activated",),
    "deactivate": ("deactivated",),
    "record": ("created", "modified", "deleted"),
    "lease": ("leased",),
    "renew": ("renewed",),
    "release": ("released", "force_released"),
    "file_record": ("created", "modified", "deleted"),
    "send": ("sent",),
    "message_send": ("sent",),
    "ack": ("acked",),
    "claim": ("claimed",),
    "decision_set": ("created",),
    "decision_update": ("updated",),
}

# All verbs of the log: those above, and those of events without an action of that name.
VERBS = (
    *("created", "updated", "deprecated", "deleted", "modified", "activated", "deactivated"),
    *("sent", "acked", "claimed", "done", "overdue", "escalated"),
    *("appended", "restored", "saved", "closed", "reopened", "confirmed"),
    *("leased", "renewed", "released", "force_released", "taken_over", "handed_over"),
    *("imported", "cleaned", "pruned", "purged"),
    *("tested", "sent_again", "switched_off"),
)


@frozen
class NewEvent:
    """An event as those who wait for it read it. `agent` is case-folded, and `name` the same as written.

    `at` is a time as the database gives it.
    """

    id: int
    noun: str
    agent: str
    data: Mapping[str, Any]
    verb: str = ""
    ref: str = ""
    name: str = ""
    at: Any = None


def moment_of(project_id: int, since: datetime | EventCursor | None) -> datetime | None:
    """The first time included in `since`; for an event cursor, 1 microsecond after that event."""
    if not isinstance(since, EventCursor):
        return since
    at = (
        Event.objects.in_project(project_id)
        .filter(pk__lte=since.event_id)
        .order_by("-pk")
        .values_list("at", flat=True)
    )
    last = at.first()
    return last + timedelta(microseconds=1) if last else None


def id_of(project_id: int, since: datetime | EventCursor) -> int:
    """The id of the last event before `since`; newer events have greater ids."""
    if isinstance(since, EventCursor):
        return since.event_id
    before = Event.objects.in_project(project_id).filter(at__lt=since).order_by("-at")
    return before.values_list("pk", flat=True).first() or 0


def latest_cursor(project_id: int) -> EventCursor:
    [(newest,)] = sql.rows("SELECT coalesce(max(id), 0) FROM core_event WHERE project_id = %s", [project_id])
    return EventCursor(newest)


def latest_ids(project_ids: Sequence[int]) -> dict[int, int]:
    """The id of the newest event of each project, 0 where there is none."""
    if not project_ids:
        return {}
    among, values = sql.among("p.id", project_ids)
    newest = "SELECT max(e.id) FROM core_event e WHERE e.project_id = p.id"
    return dict(sql.rows(f"SELECT p.id, coalesce(({newest}), 0) FROM core_project p WHERE {among}", values))


def list_activity(
    project_id: int,
    *,
    since: str | None = None,
    agents: Sequence[str] | None = None,
    by: str | None = None,
    verbs: Sequence[str] | None = None,
    limit: int = 20,
    cursor: str | None = None,
    ordering: Ordering = None,
) -> Listing:
    """A page of events, newest first: rows at, agent, verb, ref, note. `by`: one more of the `agents`."""
    limit, way = clean_limit(limit), way_of(ordering, "-at")
    events = Event.objects.in_project(project_id)
    match clean_moment(since, "since"):
        case EventCursor(event_id=event_id):
            events = events.filter(pk__gt=event_id)
        case datetime() as moment:
            events = events.filter(at__gte=moment)
    names = clean_agents(project_id, agents or ())
    names += [clean_name(by, "by").casefold()] if by else []
    if names:
        events = events.filter(agent__in=_agent_ids(project_id, names))
    if verbs_of_events := verbs_meant(clean_words(verbs, "verbs")):
        events = events.filter(verb__in=verbs_of_events)
    if cursor:
        [position] = way.read(cursor, int)
        events = events.filter(**{"pk__lt" if way.is_down else "pk__gt": position})
    in_order = events.order_by("-pk" if way.is_down else "pk")
    found = list(in_order.values_list("pk", "at", "agent__name", "verb", "ref", "data")[: limit + 1])
    rows = found[:limit]
    return Listing(
        columns=("at", "agent", "verb", "ref", "note"),
        rows=[
            [format_time(at), agent or "system", verb, ref, note_of(data)]
            for _, at, agent, verb, ref, data in rows
        ],
        next=way.cursor(rows[-1][0]) if len(found) > limit else None,
        cursor_after=lambda count: way.cursor(rows[count - 1][0]),
    )


def clean_agents(project_id: int, agents: Sequence[str]) -> list[str]:
    """The case-folded names; none if they mean everyone."""
    known = find_known_names(project_id, agents)
    names = clean_names(names_meant(agents, known, "agents"), "agents")
    everyone = any(means_everyone(name, known) for name in names)
    return [] if everyone else [name.casefold() for name in names]


def note_of(data: dict[str, Any]) -> str:
    """An event's data as a short text: `1.0.0 > 1.0.1: value, tags`, `message_hours 24 > 48`."""
    version = " > ".join(dict.fromkeys(str(data[name]) for name in ("was", "version") if name in data))
    values = {name: f"{name} {_short(old)} > {_short(new)}" for name, old, new in changed_values(data)}
    changed = ", ".join(values.get(name, name) for name in data.get("changed", ()))
    note = ": ".join(part for part in (version, changed) if part)
    reason = str(data.get("note") or data.get("reason") or "")
    return "; ".join(part for part in (note, reason[:100]) if part)


def changed_values(data: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Name, old and new value of what changed, of an event that holds both."""
    old, new = data.get("old"), data.get("new")
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return []
    return [(name, old.get(name), value) for name, value in new.items()]


def count_updates(caller: Caller, *, since: str | None = None) -> dict[str, Any]:
    """The number of objects of each noun that others changed since, and the cursor for the next call.

    For messages it is the number of those that are new to the agent. What it has not read of those before is
    no news: `mail` counts what of it is urgent, as in any answer.
    """
    cursor, start = latest_cursor(caller.project_id), clean_moment(since, "since")
    new = _new_events(caller, start, cursor)
    changed = _count_changed(new)
    read_since = None if start is None else new
    mine = {noun.plural: noun.news(caller, read_since) for noun in registry.all_nouns() if noun.news}
    news = {**{plural: count for plural, count in changed.items() if plural not in mine}, **mine}
    mail = {"mail": urgent} if (urgent := count_urgent(caller)) else {}
    return {**{plural: count for plural, count in news.items() if count}, "cursor": str(cursor), **mail}


def _count_changed(new: sql.Selected) -> dict[str, int]:
    events, values = new
    counted = sql.rows(
        f"""SELECT noun, count(*) FROM (SELECT DISTINCT noun, ref FROM ({events}) new) things
        GROUP BY noun ORDER BY noun""",
        values,
    )
    return {registry.plural(noun): count for noun, count in counted}


def _new_events(caller: Caller, since: datetime | EventCursor | None, cursor: EventCursor) -> sql.Selected:
    """The newest 10,000 events of others since then and up to the cursor: noun, verb, ref."""
    conditions = ["project_id = %s", "id <= %s", "noun <> 'hub'"]
    values: list[Any] = [caller.project_id, cursor.event_id]
    match since:
        case EventCursor(event_id=event_id):
            conditions.append("id > %s")
            values.append(event_id)
        case datetime() as moment:
            conditions.append("at >= %s")
            values.append(sql.stored_time(moment))
    conditions.append(
        "(agent_id IS NULL OR agent_id NOT IN"
        " (SELECT id FROM core_agent WHERE project_id = %s AND folded = %s))"
    )
    values += [caller.project_id, caller.agent.casefold()]
    statement = (
        f"SELECT noun, verb, ref FROM core_event WHERE {' AND '.join(conditions)} ORDER BY id DESC LIMIT %s"
    )
    return statement, [*values, NEW_EVENTS_READ]


def read_new_events(project_id: int, after: int, limit: int = NEW_EVENTS_READ) -> list[NewEvent]:
    """The events after an event id, oldest first, at most 10,000."""
    found = sql.rows(
        """SELECT e.id, e.noun, coalesce(a.folded, ''), e.data, e.verb, e.ref, coalesce(a.name, ''), e.at
        FROM core_event e LEFT JOIN core_agent a ON a.id = e.agent_id
        WHERE e.project_id = %s AND e.id > %s ORDER BY e.id LIMIT %s""",
        [project_id, after, limit],
    )
    return [
        NewEvent(row_id, noun, agent, sql.read_json(data), *rest)
        for row_id, noun, agent, data, *rest in found
    ]


def is_new_to(agent: str, event: NewEvent) -> bool:
    """Whether an event is news to the agent of this case-folded name.

    Its own are not, nor those addressed to others (`data["to"]`), nor those of the hub itself.
    """
    if event.agent == agent or event.noun == "hub":
        return False
    to = event.data.get("to")
    return to is None or agent in _folded(to)


def concerns(agent: str, event: NewEvent) -> bool:
    """Whether an event that is new to the agent is about it, not only about its project.

    That are messages to it or to everyone, what others did with its own messages, and an act on its lease.
    """
    noun = registry.find_noun(event.noun)
    is_of_mail = noun is not None and noun.news is not None
    return is_of_mail or event.data.get("to") is not None or agent in _folded([event.data.get("holder")])


def _folded(names: Iterable[object]) -> set[str]:
    return {str(name).casefold() for name in names}


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= VALUE_CHARACTERS else f"{text[:VALUE_CHARACTERS].rstrip()}…"


def verbs_meant(verbs: Iterable[str]) -> list[str]:
    """The verbs of the log that these words mean, which may be names of actions."""
    return [verb for name in verbs for verb in VERBS_OF_ACTION.get(name.lower(), (name.lower(),))]


def _agent_ids(project_id: int, folded: Sequence[str]) -> list[int]:
    found = sql.rows(
        f"SELECT id FROM core_agent WHERE project_id = %s AND folded IN ({sql.marks(folded)})",
        [project_id, *folded],
    )
    return [row_id for (row_id,) in found]
