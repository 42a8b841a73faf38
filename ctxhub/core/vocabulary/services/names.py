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

    Raises NotAllowed for a new agent with the name of a person.
    """
    kind = Agent.Kind.HUMAN if caller.is_person else Agent.Kind.AGENT
    moment = sql.stored_time(at)
    [(agent_id, created_at)] = sql.insert(
        "core_agent",
        ("project_id", "name", "folded", "kind", "created_at", "last_seen_at"),
        [(caller.project_id, caller.agent, caller.agent.casefold(), kind, moment, moment)],
        "ON CONFLICT (project_id, folded) DO UPDATE SET last_seen_at = excluded.last_seen_at"
        " RETURNING id, created_at",
    )
    if sql.read_time(created_at) == at:
        _check_new_name(caller)
        agent_registered.send(None, project_id=caller.project_id, agent_id=agent_id, name=caller.agent, at=at)
        keep_if_repeated(partial(_register_alone, caller, at))
    return int(agent_id)


def _check_new_name(caller: Caller) -> None:
    if caller.is_person:
        forget_names()
    elif is_name_of_person(caller.project_id, caller.agent):
        raise name_of_person(caller.project_id, caller.agent)


def _register_alone(caller: Caller, at: datetime) -> None:
    with write_transaction(caller.project_id):
        register_agent(caller, at)


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
