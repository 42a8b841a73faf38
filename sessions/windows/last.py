"""Finds where an agent stopped: its last session, or one of another agent that a task names."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import WORD_LENGTH, read_id
from sessions.sittings.contents import StoredItem, read_items

# Of the content of an item.
ITEM_CHARACTERS = 500
# Of a task.
READ, MOST_WORDS = 2_000, 60

_NUMBER = re.compile(r"\bsession[:\s#]+(\d{1,18})\b", re.IGNORECASE)


@frozen
class LastSession:
    """A session and its items, the most important first."""

    id: int
    agent: str
    summary: str
    updated_at: datetime
    items: Sequence[StoredItem]


def last_worked_in(caller: Caller, most_items: int) -> LastSession | None:
    """The session that the caller's agent last saved, or restored; None if it has none."""
    found = sql.rows(
        """
        SELECT s.id, a.name, s.summary, s.updated_at
        FROM core_agent a CROSS JOIN agent_sessions_agentsession s
        WHERE a.project_id = %s AND a.folded = %s
        AND s.project_id = a.project_id AND s.agent_id = a.id AND s.current_at IS NOT NULL
        AND (s.saved_at IS NOT NULL OR s.parent_id IS NOT NULL)
        ORDER BY s.current_at DESC, s.id DESC LIMIT 1""",
        [caller.project_id, caller.agent.casefold()],
    )
    return _with_items(found, most_items)


def last_named(caller: Caller, text: str, most_items: int) -> LastSession | None:
    """Of the sessions that others saved, the newest that a text names by its agent, name or ref."""
    numbers = [row_id for number in _NUMBER.findall(text[:READ]) if (row_id := read_id(number))]
    names = sorted(_names_in(text[:READ]) - {caller.agent.casefold()})
    if not numbers and not names:
        return None
    wanted: list[tuple[str, list[Any]]] = [sql.among("s.id", numbers)] if numbers else []
    if names:
        wanted += [sql.among("a.folded", names), sql.among("lower(s.name)", names)]
    found = sql.rows(
        f"""
        SELECT s.id, a.name, s.summary, s.updated_at
        FROM core_agent a JOIN agent_sessions_agentsession s ON s.agent_id = a.id
        WHERE a.project_id = %s AND s.project_id = a.project_id AND a.folded <> %s AND s.saved_at IS NOT NULL
        AND ({" OR ".join(where for where, _ in wanted)})
        ORDER BY s.saved_at DESC, s.id DESC LIMIT 1""",
        [caller.project_id, caller.agent.casefold(), *(value for _, values in wanted for value in values)],
    )
    return _with_items(found, most_items)


def _names_in(text: str) -> set[str]:
    """What may be a name: each word, and each two and three that follow one another."""
    words = [word.strip(".,:;!?'\"()").removesuffix("'s") for word in text.casefold().split()][:MOST_WORDS]
    runs = (words[at : at + count] for count in (1, 2, 3) for at in range(len(words)))
    return {name for run in runs if 0 < len(name := " ".join(run)) <= WORD_LENGTH}


def _with_items(found: Sequence[Any], most_items: int) -> LastSession | None:
    if not found:
        return None
    [(session_id, agent, summary, updated_at)] = found
    items = read_items([session_id], ITEM_CHARACTERS).get(session_id, [])
    ordered = sorted(items, key=lambda item: -item.importance)[:most_items]
    return LastSession(session_id, agent, summary, sql.read_time(updated_at), ordered)
