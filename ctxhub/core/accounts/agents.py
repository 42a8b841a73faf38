"""Agents: registered on their first call, and read by name."""

import logging
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeVar, cast

from django.db import Error
from django.db.models import F, Model, OuterRef, QuerySet, Subquery

from ctxhub.core.accounts.live_sessions import note_session
from ctxhub.core.accounts.speakers import named_by
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.background import BackgroundWriter
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import NotAllowed
from ctxhub.core.kit.failures import log_failure
from ctxhub.core.kit.inputs import clean_name
from ctxhub.core.kit.replaced_file import when_replaced
from ctxhub.core.kit.transactions import try_touch_transaction, try_write_lock, write_transaction
from ctxhub.core.models import Agent, Project
from ctxhub.core.vocabulary.names import register_agent

KNOWN_AGENTS = 30

RowT = TypeVar("RowT", bound=Model)


def agent_names(project_id: int, agent_ids: Iterable[int | None]) -> dict[int, str]:
    """The names of agents by id; makes no query for none."""
    ids = {agent_id for agent_id in agent_ids if agent_id}
    if not ids:
        return {}
    among, values = sql.among("id", list(ids))
    found = sql.rows(
        f"SELECT id, name FROM core_agent WHERE project_id = %s AND {among}", [project_id, *values]
    )
    return dict(found)


def with_agent_pk(rows: QuerySet[RowT], folded: str = "folded") -> QuerySet[RowT]:
    """Annotate rows that store an agent by name with `agent_pk`: None if nobody of it is registered."""
    agents = Agent.unscoped.filter(project=OuterRef("project"), folded=OuterRef(folded))
    annotated: Any = rows.annotate(agent_pk=Subquery(agents.values("pk")[:1]))
    return cast("QuerySet[RowT]", annotated)


def find_agent_id(project_id: int, name: str) -> int | None:
    """The id of the registered agent of this name."""
    statement = "SELECT id FROM core_agent WHERE project_id = %s AND folded = %s"
    found = sql.rows(statement, [project_id, name.casefold()])
    return int(found[0][0]) if found else None


def author_id(project_id: int, by: str) -> int:
    """The id of the agent that the filter `by` of a list names; 0, which nobody has, if it is unknown."""
    return find_agent_id(project_id, clean_name(by, "by")) or 0


def ids_of_names(project_id: int, folded: Iterable[str]) -> dict[str, int]:
    """The ids of registered agents by case-folded name; makes no query for none."""
    names = {*folded}
    if not names:
        return {}
    return dict(Agent.objects.in_project(project_id).filter(folded__in=names).values_list("folded", "pk"))


def is_agent_name(project_id: int, name: str) -> bool:
    """Whether an agent that is no person has this name."""
    agents = Agent.objects.in_project(project_id).filter(kind=Agent.Kind.AGENT)
    return agents.filter(folded=name.casefold()).exists()


def known_agents(project: Project) -> list[str]:
    """The names of the agents last seen, the latest first."""
    agents = Agent.objects.in_project(project).order_by(F("last_seen_at").desc(nulls_last=True), "folded")
    return list(agents.values_list("name", flat=True)[:KNOWN_AGENTS])


SEEN_EVERY_SECONDS = 60.0


def touch_agent(caller: Caller) -> None:
    """Update when the caller's agent and its session were last heard of, at most once a minute and process.

    Waits for nobody: while others write it is done in the background. On stdio the caller's project then has
    the settings that are stored.
    """
    agent = (caller.project_id, caller.agent.casefold(), named_by(caller))
    now = time.monotonic()
    with _lock:
        if now - _touched.get(agent, -SEEN_EVERY_SECONDS) < SEEN_EVERY_SECONDS:
            return
        if len(_touched) > 10_000:
            _touched.clear()
        _touched[agent] = now
    if caller.window is not None and not caller.window.is_remote:
        # A process on stdio lives for days with one project: it hears of changed settings here.
        caller.project.refresh_from_db(fields=["config"])
    if not register_without_waiting(caller):
        LATER.put(caller)


def register_without_waiting(caller: Caller) -> bool:
    """Whether the agent was registered; False if it would have to wait for a writer."""
    try:
        with try_touch_transaction() as may_write:
            # A new agent becomes a recipient of messages to everyone, so it is inserted under the write lock.
            # A known one has a row that a writer may have locked.
            if may_write := may_write and try_write_lock(caller.project_id):
                _note(caller)
            return may_write
    except NotAllowed:  # A person has just got the name; the next call is told.
        return True
    except Error as error:  # The agent's call itself succeeded, and must not be reported as failed.
        log_failure(f"noting agent {caller.agent!r}", error, level=logging.WARNING)
        return True


def _register_all(callers: Sequence[Caller]) -> None:
    distinct = {(caller.project_id, caller.agent.casefold(), named_by(caller)): caller for caller in callers}
    for caller in distinct.values():
        with suppress(NotAllowed), write_transaction(caller.project_id):
            _note(caller)


def _note(caller: Caller) -> None:
    at = clock.now()
    register_agent(caller, at)
    note_session(caller, at)


def is_registered(caller: Caller) -> bool:
    """Whether the caller's agent has a row."""
    return find_agent_id(caller.project_id, caller.agent) is not None


# When this process last updated each agent: only a throttle, never a source of ids.
_touched: dict[tuple[int, str, str], float] = {}
_lock = threading.Lock()
when_replaced.append(_touched.clear)
LATER = BackgroundWriter("noting which agents were seen", _register_all)
