"""What removes many rows does it in batches, the container last: what was cut off can be repeated."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from benchmarks.lock_times import recorded_holds
from ctxhub.core import project_deletion
from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.deletes import delete_rows
from ctxhub.core.models import Project, SearchEntry, SearchText, SearchWord
from ctxhub.core.project_deletion import delete_project
from ctxhub.core.registry import all_nouns
from ctxhub.toolbox.dispatch import call
from memory.decisions import services
from memory.decisions.history import DecisionHistory
from memory.decisions.models import Decision
from memory.decisions.services import delete_decision, deprecate_decision, set_decision
from tests.search_index import index_is_right

BATCH = 3
part_from_successor = DecisionHistory.part_from_successor


class CutOff(Exception):
    pass


def cut_off_after(batches: int, do: Callable[..., Any]) -> Callable[..., Any]:
    """The function that writes a batch, and raises CutOff instead of the next one."""
    calls: list[None] = []

    def write(*arguments: Any, **options: Any) -> Any:
        calls.append(None)
        if len(calls) > batches:
            raise CutOff
        return do(*arguments, **options)

    return write


# -- A decision that supersedes many ---------------------------------------------------------------


@pytest.fixture
def successor(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> Decision:
    """Supersedes seven decisions."""
    monkeypatch.setattr(services, "ROWS_AT_ONCE", BATCH)
    set_decision(caller=ada, key="new", value="x")
    for number in range(7):
        set_decision(caller=ada, key=f"old/{number}", value="x")
        deprecate_decision(caller=ada, key=f"old/{number}", superseded_by="new")
    return Decision.objects.in_project(ada.project).get(key="new")


@pytest.mark.django_db(transaction=True)
def test_a_decision_leaves_what_it_supersedes_in_batches(ada: Caller, successor: Decision) -> None:
    with recorded_holds() as holds:
        delete_decision(caller=ada, key="new")
    # The transaction that finds many, two batches, the one that finds no more, and the last.
    assert len(holds) == 5
    left = Decision.objects.in_project(ada.project)
    assert left.count() == 7
    assert not left.exclude(superseded_by=None).exists()
    index_is_right(ada.project)


@pytest.mark.django_db(transaction=True)
def test_deleting_a_decision_can_be_repeated_after_it_was_cut_off(
    ada: Caller, successor: Decision, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(DecisionHistory, "part_from_successor", cut_off_after(1, part_from_successor))
        with pytest.raises(CutOff):
            delete_decision(caller=ada, key="new")
    assert Decision.objects.in_project(ada.project).filter(superseded_by=successor).count() == 7 - BATCH
    delete_decision(caller=ada, key="new")
    assert Decision.objects.in_project(ada.project).count() == 7
    index_is_right(ada.project)


# -- A project -------------------------------------------------------------------------------------


@pytest.fixture
def populated(ada: Caller) -> Caller:
    """Rows of most kinds, some of which refer to each other."""
    for number in range(5):
        set_decision(caller=ada, key="k", value=number, tags=["api"], scopes=["web"], layer="data")
        set_decision(caller=ada, key=f"k/{number}", value="x")
    snapshot = write(ada, "snapshot", "save", content="x")["id"]
    write(ada, "snapshot", "save", content="y", dependencies=[snapshot])
    write(ada, "constraint", "add", category="rules", text="t", paths=["a/*"])
    memory = write(ada, "memory", "add", title="t", content="c", tags=["api"])["id"]
    write(ada, "memory", "relate", source=f"memory:{memory}", target="decision:k")
    write(ada, "memory", "update", id=memory, content="d")
    workflow = write(ada, "scratchpad", "create_workflow", name="w")["workflow_id"]
    write(ada, "scratchpad", "create", workflow_id=workflow, name="p", content="x")
    message = write(ada, "message", "send", text="t", to=["ben", "cy"], ack=True)["id"]
    write(ada.speaking_as("ben"), "message", "send", text="t", reply_to=message)
    write(ada, "file", "record", path="a.py", change="modified", layer="data")
    write(ada, "file", "lease", paths=["a/**"])
    write(ada, "session", "save", session="s", conversation="c", files=[{"path": "a.py", "hash": "h"}])
    create_token(project=ada.project, agent="ada", scopes=["read"])
    return ada


def write(caller: Caller, tool: str, action: str, **arguments: Any) -> Any:
    return call(caller, tool, {"action": action, **arguments})


def rows_of(project: Project) -> int:
    models = [noun.model for noun in all_nouns()] + [SearchEntry, SearchText, SearchWord]
    return sum(model._base_manager.filter(project=project).count() for model in models)


@pytest.mark.django_db(transaction=True)
def test_deleting_a_project_can_be_repeated_after_it_was_cut_off(
    populated: Caller, cy: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_decision(caller=cy, key="theirs", value="x")
    theirs, project = rows_of(cy.project), Project.objects.get(pk=populated.project_id)
    monkeypatch.setattr(project_deletion, "ROWS_AT_ONCE", BATCH)
    before = rows_of(project)
    with monkeypatch.context() as patch:
        patch.setattr(project_deletion, "delete_rows", cut_off_after(15, delete_rows))
        with pytest.raises(CutOff):
            delete_project(project)
    assert 0 < rows_of(project) < before
    delete_project(project)
    assert not Project.objects.filter(pk=populated.project_id).exists()
    assert rows_of(populated.project) == 0
    assert rows_of(cy.project) == theirs
    index_is_right(cy.project)


@pytest.mark.django_db(transaction=True)
def test_the_admin_deletes_a_project_in_batches(
    populated: Caller, admin_user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_deletion, "ROWS_AT_ONCE", BATCH)
    client = Client()
    client.force_login(admin_user)
    with recorded_holds() as holds:
        client.post(reverse("admin:core_project_delete", args=[populated.project_id]), {"post": "yes"})
    assert len(holds) > 15
    assert not Project.objects.filter(pk=populated.project_id).exists()
