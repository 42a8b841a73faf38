"""Conversations, saved in a session of the hub."""

from __future__ import annotations

import os

from ctxhub_client.hooks.transcripts import read_transcript
from ctxhub_client.texts import one_line
from ctxhub_client.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.hooks.event import Event
    from ctxhub_client.paths import Project
    from ctxhub_client.values import Json

SUMMARY_CHARACTERS = 400


def save_conversation(event: Event) -> None:
    texts = read_transcript(text_of(event.values, "transcript_path"))
    save(event, texts)


def save(event: Event, texts: list[tuple[str, str]]) -> None:
    """Save a conversation, oldest text first, in the session of the client."""
    if not texts or not event.session:
        return
    said = [text for role, text in texts if role == "assistant"]
    body: Json = {
        "session": event.session,
        "conversation": "\n\n".join("{}: {}".format(role, text) for role, text in texts),
    }
    if said:
        body["summary"] = one_line(said[-1], SUMMARY_CHARACTERS)
    state = state_of(event.project)
    event.hub.post("sessions/", dict(body, **state))
    if state and event.hub.status == 400:
        event.hub.post("sessions/", body)


def state_of(project: Project) -> Json:
    """The branch and the folder that the session worked in."""
    repository = project.repository
    values = {
        "branch": one_line(repository.branch if repository else "", 100),
        "worktree": one_line((repository.top if repository else project.folder).replace(os.sep, "/"), 1_000),
    }
    return {name: value for name, value in values.items() if value}
