"""Counts refusals in the background: a refused call neither waits nor writes."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeGuard

from ctxhub.core.accounts.models import Config
from ctxhub.core.accounts.projects import by_existing_project
from ctxhub.core.accounts.speakers import told_session
from ctxhub.core.events.cleanup import REMOVED_AT_ONCE
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.background import BackgroundWriter
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.counts import Counts, How
from ctxhub.core.kit.errors import Conflict, CtxhubError, NotAllowed, Unauthenticated
from ctxhub.core.kit.lengths import SESSION_NAME_LENGTH
from ctxhub.core.kit.read_limit import TooMuchWork
from ctxhub.core.kit.transactions import touch_transaction
from ctxhub.core.refusals.models import NOTE_LENGTH, REF_LENGTH
from ctxhub.core.text.secrets import mask_secrets

REFUSALS = Counts(
    "core_refusal",
    ("ref", "folded", "code", "minute"),
    {
        "name": How.KEPT,
        "count": How.ADDED,
        "first_at": How.KEPT,
        **dict.fromkeys(("last_at", "note", "session"), How.LATEST),
    },
)


class Key(NamedTuple):
    """What refusals are counted for, within a project."""

    ref: str
    folded: str
    code: str
    minute: datetime


class Counted(NamedTuple):
    name: str
    times: int
    first_at: datetime
    last_at: datetime
    note: str
    session: str = ""


def add_refusals(project_id: int, counts: Iterable[tuple[Key, Counted]]) -> None:
    REFUSALS.add(project_id, (_record(key, new) for key, new in counts))


def count_rows_by_agent(project_id: int, since: datetime) -> dict[str, int]:
    """How many rows each agent has since a time, by case-folded name."""
    statement = (
        "SELECT folded, count(*) FROM core_refusal WHERE project_id = %s AND minute >= %s GROUP BY folded"
    )
    return dict(sql.rows(statement, [project_id, sql.stored_time(since)]))


def delete_refusals(project_id: int, before: datetime, at_most: int) -> int:
    """Delete the oldest refusals from before a time; returns how many."""
    return REFUSALS.delete_oldest(project_id, "minute", before, at_most)


def _record(key: Key, new: Counted) -> tuple[Any, ...]:
    return (
        *(key.ref, key.folded, key.code, sql.stored_time(key.minute)),
        *(new.name, new.times, sql.stored_time(new.first_at), sql.stored_time(new.last_at), new.note),
        new.session,
    )


# Rows in an hour. Beyond, an agent's refusals are counted without their refs, and others' without the agent.
ROWS_OF_AGENT = 120
ROWS_OF_PROJECT = 400

# What holds the name of an object in a call, besides what its declaration says.
KIND_OF_NAME = {
    **{f"{kind}_id": kind for kind in ("change", "constraint", "lease", "memory", "message", "scratchpad")},
    **{f"{kind}_id": kind for kind in ("session", "snapshot", "workflow")},
    "context": "context",
    "key": "decision",
}

logger = logging.getLogger(__name__)


class Refused(NamedTuple):
    project_id: int
    agent: str
    ref: str
    code: str
    note: str
    at: datetime
    session: str = ""


def count_refusal(caller: Caller, error: Exception, ref: str = "") -> None:
    """Count an error for the caller's agent if it is a refusal: a denied scope, a taken lease, a version, a
    read that was stopped, which is also logged.

    `ref`: the object that the call names; the error's own `about` comes first. An error is counted once,
    however many layers see it.
    """
    if not is_refusal(error) or error.is_counted:
        return
    error.is_counted = True
    if isinstance(error, TooMuchWork):
        logger.warning("%s (%s in %s)", error.message, caller.agent, caller.project.slug)
    refused = Refused(
        *(caller.project_id, caller.agent, error.about or ref, error.code, error.message, clock.now()),
        session=told_session(caller)[:SESSION_NAME_LENGTH],
    )
    WRITER.put(refused)


def is_refusal(error: Exception) -> TypeGuard[CtxhubError]:
    """Conflicts say by `about` that they are one: others, such as a name that is taken, are mistakes."""
    if isinstance(error, NotAllowed):
        return not isinstance(error, Unauthenticated)
    return isinstance(error, TooMuchWork) or (isinstance(error, Conflict) and bool(error.about))


def ref_in(names: Mapping[str, Any], kinds: Mapping[str, str] = KIND_OF_NAME) -> str:
    """The ref of the first object that the arguments of a call name; "" if they name none."""
    for argument, kind in kinds.items():
        name = names.get(argument)
        if isinstance(name, str | int) and not isinstance(name, bool) and name != "":
            return str(name) if str(name).startswith(f"{kind}:") else f"{kind}:{name}"
    return _first_of(names.get("refs"))


def _first_of(refs: Any) -> str:
    """The first of the refs that a call names."""
    ref = refs[0] if isinstance(refs, list) and refs else refs
    return ref if isinstance(ref, str) else ""


def clean_refusals(project_id: int, now: datetime, config: Config) -> dict[str, int]:
    """Delete refusals older than accesses are kept (0 days: none), at most 500."""
    days = config.access_days
    count = delete_refusals(project_id, now - timedelta(days=days), REMOVED_AT_ONCE) if days else 0
    return {"refusals": count} if count else {}


def write_refusals(refused: Sequence[Refused]) -> None:
    """Add what was refused to the counts, one transaction a project. No project's write lock is needed."""
    for project_id, of_project in by_existing_project(refused, lambda each: each.project_id):
        with touch_transaction():
            hour = clock.now().replace(minute=0, second=0, microsecond=0)
            rows = count_rows_by_agent(project_id, hour)
            add_refusals(project_id, _counts(of_project, rows).items())


# -- Pieces ----------------------------------------------------------------------------------------


def _counts(refused: Iterable[Refused], rows: dict[str, int]) -> dict[Key, Counted]:
    """The counts by key. `rows`: how many each agent has in this hour; what is new is added."""
    counts: dict[Key, Counted] = {}
    for each in refused:
        agent, ref = each.agent, _masked(each.ref, REF_LENGTH)
        if sum(rows.values()) >= ROWS_OF_PROJECT:
            agent = ref = ""
        elif rows.get(agent.casefold(), 0) >= ROWS_OF_AGENT:
            ref = ""
        key = Key(ref, agent.casefold(), each.code, each.at.replace(second=0, microsecond=0))
        if key not in counts:
            rows[key.folded] = rows.get(key.folded, 0) + 1
        old = counts.get(key, Counted(agent, 0, each.at, each.at, ""))
        note = _masked(each.note, NOTE_LENGTH)
        counts[key] = old._replace(times=old.times + 1, last_at=each.at, note=note, session=each.session)
    return counts


def _masked(text: str, length: int) -> str:
    """The beginning of a text from a call, which may contain anything: also what cannot be stored."""
    storable = text.replace("\0", "").encode(errors="replace").decode()
    return mask_secrets(storable)[0][:length]


WRITER = BackgroundWriter("counting refusals", write_refusals)
