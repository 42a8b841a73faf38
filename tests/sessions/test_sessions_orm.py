"""Sessions written through the ORM: counters, events and the search index follow."""

import pytest

from ctxhub.core.kit.caller import Caller, acting
from ctxhub.core.models import Event
from ctxhub.toolbox.dispatch import call
from sessions.models import AgentSession, Conversation, WorkspaceState
from sessions.sittings.services import save_session

pytestmark = pytest.mark.usefixtures("index_is_kept")


def stored(caller: Caller) -> AgentSession:
    return AgentSession.objects.in_project(caller.project).latest("pk")


def verbs(caller: Caller) -> list[str]:
    events = Event.objects.in_project(caller.project).filter(noun="session").order_by("pk")
    return list(events.values_list("verb", flat=True))


def counted(caller: Caller) -> int:
    return int(call(caller, "hub", {"action": "stats"})["sessions"])


def found(caller: Caller, query: str) -> int:
    return int(call(caller, "search", {"query": query, "match": "all"})["count"])


def test_a_created_and_a_deleted_session_are_recorded(ada: Caller) -> None:
    with acting(ada):
        row = AgentSession.objects.create(project=ada.project, summary="herons")
        assert (verbs(ada), counted(ada), row.agent and row.agent.name) == (["saved"], 1, "ada")
        row.delete()
    assert (verbs(ada), counted(ada)) == (["saved", "deleted"], 0)


def test_an_implicit_session_is_not_recorded_until_it_is_none(ada: Caller) -> None:
    row = AgentSession.objects.create(project=ada.project, is_implicit=True)
    row.summary = "s"
    row.save()
    assert (verbs(ada), counted(ada)) == ([], 0)
    row.is_implicit = False
    row.save(update_fields=["is_implicit"])
    assert (verbs(ada), counted(ada)) == (["saved"], 1)
    row.is_implicit = True
    row.save()
    row.delete()
    assert counted(ada) == 0


def test_a_new_summary_is_found(ada: Caller) -> None:
    save_session(caller=ada, summary="herons")
    row = stored(ada)
    row.summary = "owls"
    row.save()
    assert (found(ada, "herons"), found(ada, "owls"), verbs(ada)) == (0, 1, ["saved", "saved"])


def test_conversations_and_states_are_found_and_forgotten(ada: Caller) -> None:
    save_session(caller=ada, conversation="herons", branch="feathers")
    Conversation.objects.in_project(ada.project).update(text="owls")
    conversation = Conversation.objects.in_project(ada.project).get()
    conversation.save()
    assert (found(ada, "herons"), found(ada, "owls")) == (0, 1)
    conversation.delete()
    WorkspaceState.objects.in_project(ada.project).delete()
    assert (found(ada, "owls"), found(ada, "feathers")) == (0, 0)


def test_deleting_a_project_deletes_its_sessions(ada: Caller) -> None:
    save_session(caller=ada, conversation="herons", files=[{"path": "a", "hash": "1"}])
    ada.project.delete()
    assert not AgentSession.unscoped.exists()
