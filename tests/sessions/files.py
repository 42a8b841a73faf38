"""Files of a session, as tests store them."""

import hashlib
from datetime import datetime
from typing import Any

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent
from ctxhub.core.text.token_count import count_tokens
from sessions.models import AgentSession, ResourceDependency, SessionResource
from sessions.prioritize.compression import shorter_forms
from tracking.files.models import AccessKind, type_of_path
from tracking.models import FileContent, Resource


def session_of(caller: Caller, name: str = "", **rest: Any) -> AgentSession:
    """A session that a call over HTTP of this agent belongs to."""
    agent, _ = Agent.objects.in_project(caller.project).get_or_create(
        project=caller.project, name=caller.agent, folded=caller.agent.casefold()
    )
    facts = {"name": name, "current_at": None if name else clock.now(), **rest}
    return AgentSession.objects.in_project(caller.project).create(
        project=caller.project, agent=agent, **facts
    )


def content_of(caller: Caller, text: str) -> FileContent:
    content, _ = FileContent.objects.in_project(caller.project).get_or_create(
        project=caller.project,
        hash=hashlib.sha256(text.encode()).hexdigest(),
        defaults={"text": text, "tokens": count_tokens(text)},
    )
    return content


def resource(caller: Caller, path: str, text: str | None = None, **facts: Any) -> Resource:
    """A file that was edited once, now; `text`: None if its content is not stored."""
    content = None if text is None else content_of(caller, text)
    defaults = {
        "type": type_of_path(path),
        "access_count": 1,
        "last_accessed": clock.now(),
        "best_access": AccessKind.EDITED,
        "content": content,
        "tokens": content.tokens if content else None,
        "hash": content.hash if content else "",
    }
    return Resource.objects.in_project(caller.project).create(
        project=caller.project, path=path, **(defaults | facts)
    )


def add_file(
    session: AgentSession, caller: Caller, path: str, text: str | None = None, **facts: Any
) -> Resource:
    """A file that the session has accessed once."""
    made = resource(caller, path, text, **facts)
    SessionResource.objects.in_project(caller.project).create(
        project=caller.project, session=session, resource=made, access_count=1
    )
    return made


def depend(
    caller: Caller, source: Resource, target: Resource, strength: int = 3, type: str = "imports"
) -> None:
    ResourceDependency.objects.in_project(caller.project).create(
        project=caller.project, source=source, target=target, type=type, strength=strength
    )


def stored(session: AgentSession) -> dict[str, tuple[int, bool, int | None, int | None]]:
    """Relevance, included, mode and compressed tokens by path."""
    rows = SessionResource.objects.in_project(session.project_id).filter(session=session)
    return {
        row.resource.path: (row.relevance, row.included, row.mode, row.compressed_tokens)
        for row in rows.select_related("resource").order_by("resource__path")
    }


def at_noon() -> datetime:
    return datetime.fromisoformat("2026-11-21T12:00:00+00:00")


def compress(path: str, text: str) -> str:
    return shorter_forms(path, text).compressed


def digest(path: str, text: str) -> str:
    return shorter_forms(path, text).digest
