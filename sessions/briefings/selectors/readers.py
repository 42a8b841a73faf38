"""Finds the agents that were given something in a session that is still current."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sessions.briefings.rules.current import Place, Work, current_places
from sessions.briefings.sql.given import Reader, Sign, find_signs
from sessions.windows.calls import CURRENT_FOR


def current_readers(project_id: int, readers: Sequence[Reader], now: datetime) -> list[Reader]:
    """Those of the readers whose session is current. One that was not heard of for 24 hours is over."""
    if not readers:
        return []
    agent_ids = sorted({reader.agent_id for reader in readers})
    works: dict[int, list[Work]] = {}
    for sign in find_signs(project_id, agent_ids, now - CURRENT_FOR):
        works.setdefault(sign.agent_id, []).append(_work(sign))
    current: dict[int, Collection[Place]] = {agent: current_places(some) for agent, some in works.items()}
    return [reader for reader in readers if _place(reader) in current.get(reader.agent_id, ())]


def _place(reader: Reader) -> Place:
    return (reader.session_id, "") if reader.session_id else (None, reader.session_name)


def _work(sign: Sign) -> Work:
    return Work((sign.session_id, sign.name), sign.began, sign.last, sign.continues)
