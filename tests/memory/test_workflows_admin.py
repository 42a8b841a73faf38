"""Workflows in the admin: their pads, closing and deleting."""

from typing import Any

import pytest
from django.test import Client

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from memory.models import Scratchpad, Workflow
from memory.scratchpads.services import append_to_scratchpad, create_scratchpad
from memory.workflows.services import close_workflow, create_workflow
from tests.people import member, person, signed_in, superuser

pytestmark = pytest.mark.usefixtures("index_is_kept")

LIST = "/admin/memory/workflow/"


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, username="vi")


@pytest.fixture
def task(ada: Caller) -> Workflow:
    """A workflow with one pad."""
    made = create_workflow(caller=ada, name="Code Refactoring Task", metadata={"team": "payments"})
    create_scratchpad(caller=ada, workflow_id=made["workflow_id"], name="analysis", content="服務效能瓶頸")
    return Workflow.objects.in_project(ada.project).get()


def page_of(workflow: Workflow, rest: str = "") -> str:
    return f"{LIST}{workflow.pk}/{rest}"


def is_open(workflow: Workflow) -> bool:
    workflow.refresh_from_db()
    return workflow.is_active


def last_event(project: Project) -> tuple[str, str]:
    event = Event.objects.in_project(project).select_related("agent").latest("pk")
    return event.verb, str(event.agent)


def select(action: str, *workflows: Workflow, **more: Any) -> dict[str, Any]:
    return {"action": action, "_selected_action": [row.pk for row in workflows], **more}


# -- List ------------------------------------------------------------------------------------------


@pytest.mark.every_engine
@pytest.mark.parametrize("typed", ["效能", "analysis"])
def test_a_workflow_is_found_by_its_pads(typed: str, client: Client, task: Workflow) -> None:
    assert client.get(LIST, {"q": typed}).context["cl"].result_count == 1


def test_a_search_ignores_other_projects(client: Client, cy: Caller, task: Workflow) -> None:
    made = create_workflow(caller=cy, name="moon")
    create_scratchpad(caller=cy, workflow_id=made["workflow_id"], name="x", content="crater")
    for typed in ("moon", "crater"):
        assert client.get(LIST, {"q": typed}).context["cl"].result_count == 0


def test_a_row_links_to_its_pads(client: Client, task: Workflow) -> None:
    pads = f'href="/admin/memory/scratchpad/?project=apollo&amp;workflow={task.pk}">1</a>'
    assert pads in client.get(LIST).content.decode()


def test_the_last_written_workflow_comes_first(client: Client, ada: Caller, task: Workflow) -> None:
    create_workflow(caller=ada)
    pad = Scratchpad.objects.in_project(ada.project).get()
    append_to_scratchpad(caller=ada, scratchpad_id=pad.pk, content="x")
    assert client.get(LIST).context["cl"].result_list[0].pk == task.pk


def test_the_admin_index_counts_open_workflows(client: Client, ada: Caller, task: Workflow) -> None:
    close_workflow(caller=ada, workflow_id=create_workflow(caller=ada)["workflow_id"])
    [counted] = [each for each in client.get("/admin/").context["inventory"] if "workflow" in each.text]
    assert counted.text == "1 open workflow"
    assert client.get(counted.url).context["cl"].result_count == 1


# -- Page ------------------------------------------------------------------------------------------


def test_the_page_shows_the_pads_and_the_last_write(client: Client, ben: Caller, task: Workflow) -> None:
    pad = Scratchpad.objects.in_project(ben.project).get()
    append_to_scratchpad(caller=ben, scratchpad_id=pad.pk, content="done")
    page = client.get(page_of(task))
    text = page.content.decode()
    for part in ("analysis", "服務效能瓶頸", "12 characters", "revision 2", "payments", task.ref):
        assert part in text
    assert "ben</a>, <time" in text
    assert f"/admin/memory/scratchpad/{pad.pk}/revisions/?state=2" in text


def test_the_page_shows_only_the_beginning_of_a_pad(client: Client, ada: Caller, task: Workflow) -> None:
    create_scratchpad(caller=ada, workflow_id=task.pk, name="big", content="x" * 1_000_000)
    assert len(client.get(page_of(task)).content) < 100_000


def test_a_workflow_without_a_name_is_shown_by_its_id(client: Client, ada: Caller) -> None:
    made = create_workflow(caller=ada)["workflow_id"]
    text = client.get(f"{LIST}{made}/").content.decode()
    assert f"workflow {made}" in text
    assert "It has no scratchpads yet: agents write one" in text


# -- Closing and reopening -------------------------------------------------------------------------


def test_a_workflow_is_closed_and_reopened_by_a_button(client: Client, task: Workflow) -> None:
    client.get(page_of(task, "close/"))
    assert is_open(task)
    closed = client.post(page_of(task, "close/"), follow=True)
    assert "1 workflow is closed" in closed.content.decode()
    assert "Reopen" in closed.content.decode()
    assert (is_open(task), last_event(task.project)) == (False, ("closed", "vi"))
    client.post(page_of(task, "reopen/"))
    assert (is_open(task), last_event(task.project)) == (True, ("reopened", "vi"))


@pytest.mark.every_engine
def test_a_bulk_action_closes_workflows_each_in_its_own_project(ada: Caller, cy: Caller) -> None:
    for caller in (ada, cy):
        create_workflow(caller=caller)
    rows = list(Workflow.unscoped.all())
    done = superuser().post(LIST, select("close_selected", *rows), follow=True)
    assert "2 workflows are closed" in done.content.decode()
    for caller in (ada, cy):
        assert last_event(caller.project) == ("closed", "root")
    again = signed_in(person("vi", ada.project)).post(LIST, select("close_selected", *rows), follow=True)
    assert "0 workflows are closed" in again.content.decode()


# -- Rights ----------------------------------------------------------------------------------------


def test_the_delete_page_counts_the_pads(client: Client, ada: Caller, task: Workflow) -> None:
    create_scratchpad(caller=ada, workflow_id=task.pk, name="second")
    close_workflow(caller=ada, workflow_id=task.pk)
    assert "with its 2 scratchpads" in client.get(page_of(task, "delete/")).content.decode()
    client.post(page_of(task, "delete/"), {"post": "yes"})
    assert not Workflow.objects.in_project(ada.project).exists()
    assert not Scratchpad.objects.in_project(ada.project).exists()
    assert last_event(ada.project) == ("deleted", "vi")


@pytest.mark.every_engine
def test_a_bulk_action_deletes_workflows(client: Client, ada: Caller, task: Workflow) -> None:
    create_workflow(caller=ada)
    rows = list(Workflow.objects.in_project(ada.project))
    client.post(LIST, select("delete_selected", *rows, post="yes"))
    assert not Workflow.objects.in_project(ada.project).exists()
