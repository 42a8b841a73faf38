"""Registers the rows behind the names a write mentions: its agent, tags and scopes."""

from collections.abc import Iterable
from datetime import datetime

from ctxhub.core import sql
from ctxhub.core.caller import Caller
from ctxhub.core.models import Agent
from ctxhub.core.selectors.words import Words


def register_words(
    words: Words, *, caller: Caller, tags: Iterable[str] = (), scopes: Iterable[str] = (), at: datetime
) -> None:
    """Make the rows that `find_words` did not find: the caller's agent, tags and scopes."""
    if words.agent_id is None:
        words.agent_id = register_agent(caller, at)
    words.tags |= _register("core_tag", caller.project_id, tags, words.tags)
    words.scopes |= _register("core_scope", caller.project_id, scopes, words.scopes)


def register_agent(caller: Caller, at: datetime) -> int:
    """The id of the caller's agent, which is seen now; its row is made if it has none."""
    kind = Agent.Kind.HUMAN if caller.is_person else Agent.Kind.AGENT
    moment = sql.stored_time(at)
    [(agent_id,)] = sql.insert(
        "core_agent",
        ("project_id", "name", "folded", "kind", "created_at", "last_seen_at"),
        [(caller.project_id, caller.agent, caller.agent.casefold(), kind, moment, moment)],
        "ON CONFLICT (project_id, folded) DO UPDATE SET last_seen_at = excluded.last_seen_at RETURNING id",
    )
    return int(agent_id)


def _register(table: str, project_id: int, names: Iterable[str], known: dict[str, int]) -> dict[str, int]:
    missing = {name.casefold(): name for name in names if name.casefold() not in known}
    if not missing:
        return {}
    made = sql.insert(
        table,
        ("project_id", "name", "folded"),
        [(project_id, name, folded) for folded, name in missing.items()],
        # Another writer may have registered it meanwhile: DO NOTHING would return no row for it.
        "ON CONFLICT (project_id, folded) DO UPDATE SET folded = excluded.folded RETURNING folded, id",
    )
    return dict(made)
