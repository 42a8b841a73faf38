"""Workflows in the admin: the list, the page with its pads, the forms, closing, the rights."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Membership, Project
from memory.models import Scratchpad, Workflow
from memory.scratchpads.services import append_to_scratchpad, create_scratchpad
from memory.workflows.services import close_workflow, create_workflow
from tests.people import ADMIN, MEMBER, VIEWER, member, person, signed_in, superuser
from tests.tables import dump_project

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
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?q=refactor", True),
        ("?q=payments", True),
        ("?q=效能", True),
        ("?q=analysis", True),
        ("?q=nothing", False),
        ("?q=workflow:{id}", True),
        ("?q=workflow:0", False),
        ("?state=open", True),
        ("?state=closed", False),
        ("?state=nonsense", True),
        ("?agent=ada", True),
        ("?agent=ben", False),
        ("?project=apollo", True),
    ],
)
def test_a_list_is_searched_and_filtered(query: str, found: bool, client: Client, task: Workflow) -> None:
    page = client.get(LIST + query.format(id=task.pk))
    assert page.context["cl"].result_count == int(found)


def test_a_search_ignores_other_projects(client: Client, cy: Caller, task: Workflow) -> None:
    made = create_workflow(caller=cy, name="moon")
    create_scratchpad(caller=cy, workflow_id=made["workflow_id"], name="x", content="crater")
    for typed in ("moon", "crater"):
        assert client.get(LIST, {"q": typed}).context["cl"].result_count == 0


def test_a_row_shows_the_workflow_and_links_to_its_page_and_pads(client: Client, task: Workflow) -> None:
    text = client.get(LIST).content.decode()
    pads = f'href="/admin/memory/scratchpad/?project=apollo&amp;workflow={task.pk}">1</a>'
    for part in ("Code Refactoring Task", "open", "ada", "just now", page_of(task), pads):
        assert part in text


def test_the_last_written_workflow_comes_first(client: Client, ada: Caller, task: Workflow) -> None:
    create_workflow(caller=ada)
    pad = Scratchpad.objects.in_project(ada.project).get()
    append_to_scratchpad(caller=ada, scratchpad_id=pad.pk, content="x")
    assert client.get(LIST).context["cl"].result_list[0].pk == task.pk


@pytest.mark.parametrize("page", ["", "{id}/", "{id}/change/", "{id}/delete/"])
def test_no_page_runs_queries_per_row(page: str, client: Client, ada: Caller, task: Workflow) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(LIST + page.format(id=task.pk)).status_code == 200
        return len(queries)

    count()  # Django looks its content types up once.
    few = count()
    for n in range(20):
        create_workflow(caller=Caller(ada.project, f"agent-{n}"), name=f"w{n}")
        create_scratchpad(caller=Caller(ada.project, f"agent-{n}"), workflow_id=task.pk, name=f"p{n}")
    assert count() == few


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
    assert "It has no scratchpads yet." in text


def test_the_history_lists_its_events(client: Client, ada: Caller, task: Workflow) -> None:
    close_workflow(caller=ada, workflow_id=task.pk)
    create_workflow(caller=ada)
    history = client.get(page_of(task, "history/"), follow=True)
    assert [event.verb for event in history.context["cl"].result_list] == ["closed", "created"]


@pytest.mark.parametrize("rest", ["", "change/", "history/", "close/", "reopen/"])
def test_a_missing_workflow_redirects(rest: str, client: Client, task: Workflow) -> None:
    page = client.get(f"{LIST}{task.pk + 1}/{rest}", follow=True)
    assert page.redirect_chain
    assert "Perhaps it was deleted" in page.content.decode()


def test_an_event_links_to_the_page(client: Client, task: Workflow) -> None:
    event = Event.objects.in_project(task.project).get(ref=task.ref)
    opened = client.get(reverse("admin:core_event_open", args=[event.pk]))
    assert opened.headers["Location"] == page_of(task)


def test_html_in_a_workflow_is_escaped(client: Client, ada: Caller) -> None:
    nasty = "<script>alert(1)</script>"
    made = create_workflow(caller=ada, name=nasty, metadata={nasty: nasty})["workflow_id"]
    create_scratchpad(caller=ada, workflow_id=made, name=nasty, content=nasty)
    for page in ("", f"{made}/", f"{made}/change/", f"{made}/delete/"):
        assert nasty not in client.get(LIST + page).content.decode()


# -- Forms -----------------------------------------------------------------------------------------


def test_the_form_adds_a_workflow(client: Client, apollo: Project) -> None:
    page = client.post(f"{LIST}add/", {"name": "Release 3", "metadata": '{"keep": "never"}'}, follow=True)
    made = Workflow.objects.in_project(apollo).get()
    assert page.redirect_chain[-1][0] == page_of(made)
    assert (made.name, made.metadata, made.is_kept) == ("Release 3", {"keep": "never"}, True)
    assert last_event(apollo) == ("created", "vi")


def test_the_form_renames_a_workflow_and_removes_metadata(client: Client, task: Workflow) -> None:
    client.post(page_of(task, "change/"), {"name": "Other", "metadata": '{"ticket": 7}'})
    task.refresh_from_db()
    assert (task.name, task.metadata) == ("Other", {"ticket": 7})


def test_an_unchanged_form_changes_nothing(client: Client, task: Workflow) -> None:
    before = dump_project(task.project)
    client.post(page_of(task, "change/"), {"name": task.name, "metadata": '{"team":"payments"}'})
    assert dump_project(task.project) == before


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"name": "x" * 201, "metadata": ""}, "at most 200 characters"),
        ({"name": "ghp_" + "a1B2" * 9, "metadata": ""}, "seems to hold a credential"),
        ({"name": "x", "metadata": "[1]"}, "Write a JSON object"),
    ],
)
def test_errors_are_shown_on_the_form(
    form: dict[str, str], sentence: str, client: Client, apollo: Project
) -> None:
    assert sentence in client.post(f"{LIST}add/", form).content.decode()
    assert not Workflow.objects.in_project(apollo).exists()


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


def test_a_viewer_reads_and_changes_nothing(apollo: Project, task: Workflow) -> None:
    viewer = member(apollo, VIEWER, "eve")
    text = viewer.get(page_of(task)).content.decode()
    assert "analysis" in text
    assert 'method="post" action="/admin/memory' not in text
    assert "Delete this" not in text
    before = dump_project(apollo)
    for rest in ("close/", "reopen/", "change/", "delete/"):
        viewer.post(page_of(task, rest), {"name": "x", "metadata": "", "post": "yes"})
    viewer.post(LIST, select("close_selected", task))
    assert viewer.post(f"{LIST}add/", {"name": "x"}).status_code == 403
    assert dump_project(apollo) == before


def test_a_viewer_of_one_project_changes_nothing_there(
    apollo: Project, hermes: Project, task: Workflow
) -> None:
    user = person("vi", apollo, VIEWER)
    Membership.objects.create(project=hermes, user=user, role=MEMBER)
    page = signed_in(user).post(LIST, select("close_selected", task), follow=True)
    assert "You can read these workflows, but you cannot change them." in page.content.decode()
    assert is_open(task)


def test_another_projects_workflow_is_not_found(hermes: Project, task: Workflow) -> None:
    stranger = member(hermes, ADMIN, "cleo")
    before = dump_project(task.project)
    for rest in ("", "close/", "reopen/", "change/", "history/", "delete/"):
        stranger.post(page_of(task, rest), {"post": "yes", "name": "x", "metadata": ""})
        assert task.name not in stranger.get(page_of(task, rest), follow=True).content.decode()
    assert dump_project(task.project) == before


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
