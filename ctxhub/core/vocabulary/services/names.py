"""Inserts the rows for the names in a write: its agent, tags, scopes and categories."""

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Any

from django.dispatch import Signal

from ctxhub.core.accounts.selectors.names_of_people import (
    forget_names,
    is_name_of_person,
    name_of_person,
)
from ctxhub.core.kit import sql
from ctxhub.core.kit.batches import keep_if_repeated
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Agent
from ctxhub.core.vocabulary.selectors.names import Vocabulary

# Sent in the transaction that inserts an agent. Arguments: project_id, agent_id, name, at.
agent_registered = Signal()


def register_words(
    words: Vocabulary,
    *,
    caller: Caller,
    tags: Iterable[str] = (),
    scopes: Iterable[str] = (),
    categories: Iterable[str] = (),
    at: datetime,
) -> None:
    """Insert what `find_vocabulary` did not find: the caller's agent, tags, scopes and categories."""
    if words.agent_id is None:
        words.agent_id = register_agent(caller, at)
    for kind, names, known in (
        ("tag", tags, words.tags),
        ("scope", scopes, words.scopes),
        ("category", categories, words.categories),
    ):
        for folded, row_id, name in _register(f"core_{kind}", caller.project_id, names, known):
            known[folded] = row_id
            words.spellings[kind, folded] = name


def register_agent(caller: Caller, at: datetime) -> int:
    """Insert the caller's agent if it is new, and set its last-seen time to `at`; returns its id.

    One that only had a token is first seen now. Raises NotAllowed for a new agent with the name of a person.
    """
    return _insert_agent(
        caller,
        at,
        seen_at=at,
        known="SET created_at = CASE WHEN core_agent.last_seen_at IS NULL THEN excluded.created_at"
        " ELSE core_agent.created_at END, last_seen_at = excluded.last_seen_at",
    )


def name_agent(caller: Caller, at: datetime) -> int:
    """Insert the caller's agent if it is new, as one that nobody has seen yet; returns its id.

    For what names an agent before its first call: a token. Raises NotAllowed for a new agent with the name of
    a person.
    """
    return _insert_agent(caller, at, seen_at=None, known="SET folded = excluded.folded")


def _insert_agent(caller: Caller, at: datetime, *, seen_at: datetime | None, known: str) -> int:
    kind = Agent.Kind.HUMAN if caller.is_person else Agent.Kind.AGENT
    moment, seen = sql.stored_time(at), seen_at and sql.stored_time(seen_at)
    [(agent_id, created_at)] = sql.insert(
        "core_agent",
        ("project_id", "name", "folded", "kind", "created_at", "last_seen_at"),
        [(caller.project_id, caller.agent, caller.agent.casefold(), kind, moment, seen)],
        f"ON CONFLICT (project_id, folded) DO UPDATE {known} RETURNING id, created_at",
    )
    if sql.read_time(created_at) == at:
        _check_new_name(caller)
        agent_registered.send(None, project_id=caller.project_id, agent_id=agent_id, name=caller.agent, at=at)
        keep_if_repeated(partial(_insert_alone, caller, at, seen_at, known))
    return int(agent_id)


def _check_new_name(caller: Caller) -> None:
    if caller.is_person:
        forget_names()
    elif is_name_of_person(caller.project_id, caller.agent):
        raise name_of_person(caller.project_id, caller.agent)


def _insert_alone(caller: Caller, at: datetime, seen_at: datetime | None, known: str) -> None:
    with write_transaction(caller.project_id):
        _insert_agent(caller, at, seen_at=seen_at, known=known)


def _register(
    table: str, project_id: int, names: Iterable[str], known: dict[str, int]
) -> list[tuple[Any, ...]]:
    missing = {name.casefold(): name for name in names if name.casefold() not in known}
    if not missing:
        return []
    return sql.insert(
        table,
        ("project_id", "name", "folded"),
        [(project_id, name, folded) for folded, name in missing.items()],
        # Another writer may have inserted the name meanwhile: DO NOTHING would return no row for it.
        "ON CONFLICT (project_id, folded) DO UPDATE SET folded = excluded.folded RETURNING folded, id, name",
    )
