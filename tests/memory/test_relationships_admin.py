"""Relationships in the admin: both ends, and where the forms lead."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Membership, Project
from memory.decisions.services import delete_decision, set_decision
from memory.memories.services import add_memory
from memory.models import Relation, Relationship
from memory.relationships.services import relate
from tests.people import MEMBER, member, person, signed_in

pytestmark = pytest.mark.usefixtures("index_is_kept")

LIST = "/admin/memory/relationship/"


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, username="vi")


@pytest.fixture
def relationship(ada: Caller) -> Relationship:
    """A memory depends on a decision."""
    memory = new_memory(ada, "Redis eviction")
    set_decision(caller=ada, key="cache/engine", value="Redis")
    relate(caller=ada, source=memory, target="decision:cache/engine", relation="depends_on", strength=70)
    return Relationship.objects.in_project(ada.project).get()


def new_memory(caller: Caller, title: str) -> str:
    return f"memory:{add_memory(caller=caller, title=title, content='x')['id']}"


def page_of(row: Relationship, rest: str = "change/") -> str:
    return f"{LIST}{row.pk}/{rest}"


# -- List ------------------------------------------------------------------------------------------


def test_a_ref_is_searched_in_every_project_of_the_user(
    ada: Caller, cy: Caller, apollo: Project, hermes: Project
) -> None:
    user = person("vi", apollo)
    Membership.objects.create(project=hermes, user=user, role=MEMBER)
    for caller in (ada, cy):
        set_decision(caller=caller, key="a", value="x")
        relate(caller=caller, source="decision:a", target=new_memory(caller, "m"))
    found = signed_in(user).get(LIST, {"q": "decision:a"})
    assert {row.project.slug for row in found.context["cl"].result_list} == {"apollo", "hermes"}


def test_a_row_links_to_both_ends(client: Client, relationship: Relationship) -> None:
    text = client.get(LIST).content.decode()
    memory = reverse("admin:memory_memory_read", args=[relationship.source_id])
    assert f'href="{memory}#relationships"' in text
    assert f'href="{reverse("admin:memory_decision_read", args=[relationship.target_id])}#links"' in text


def test_html_in_a_title_is_escaped(client: Client, ada: Caller) -> None:
    nasty = "<script>alert(1)</script>"
    relate(caller=ada, source=new_memory(ada, nasty), target=new_memory(ada, nasty))
    row = Relationship.objects.in_project(ada.project).get()
    for page in (LIST, page_of(row), page_of(row, "delete/"), f"{LIST}add/"):
        assert nasty not in client.get(page).content.decode()


# -- Page ------------------------------------------------------------------------------------------


def test_a_relationship_deleted_with_one_end_has_no_page(
    client: Client, ada: Caller, relationship: Relationship
) -> None:
    event = Event.objects.in_project(relationship.project).get(noun="relationship")
    delete_decision(caller=Caller(ada.project, "ada"), key="cache/engine")
    opened = client.get(reverse("admin:core_event_open", args=[event.pk]))
    assert opened.headers["Location"] != page_of(relationship)
    assert client.get(page_of(relationship, "history/")).headers["Location"] == LIST


# -- Forms and rights ------------------------------------------------------------------------------


def test_relating_a_memory_leads_to_its_page(client: Client, ada: Caller) -> None:
    sent = {"source": new_memory(ada, "One"), "target": new_memory(ada, "Other"), "relation": "blocks"}
    page = client.post(f"{LIST}add/", {**sent, "strength": "90"}, follow=True)
    row = Relationship.objects.in_project(ada.project).get()
    assert page.redirect_chain[-1][0] == f"/admin/memory/memory/{row.source_id}/#relationships"


def test_relating_two_decisions_redirects_to_the_list(client: Client, ada: Caller) -> None:
    for key in ("a", "b"):
        set_decision(caller=ada, key=key, value="x")
    sent = {"source": "decision:a", "target": "decision:b", "relation": "includes", "strength": "5"}
    assert client.post(f"{LIST}add/", sent, follow=True).redirect_chain[-1][0] == LIST


def test_the_add_form_takes_the_source_from_the_query(client: Client, relationship: Relationship) -> None:
    page = client.get(f"{LIST}add/?project=apollo&source={relationship.source}")
    assert page.context["adminform"].form["source"].value() == relationship.source
    assert f'<option value="{relationship.source}">Redis eviction</option>' in page.content.decode()


def test_another_projects_object_cannot_be_related(
    client: Client, cy: Caller, relationship: Relationship
) -> None:
    theirs = new_memory(cy, "Theirs")
    sent: dict[str, Any] = {
        "source": relationship.source,
        "target": theirs,
        "relation": "blocks",
        "strength": "5",
    }
    assert "There is no memory" in client.post(f"{LIST}add/", sent).content.decode()


def test_of_two_relationships_one_is_deleted(client: Client, ada: Caller, relationship: Relationship) -> None:
    relate(caller=ada, source=relationship.source, target="decision:cache/engine", relation="blocks")
    client.post(page_of(relationship, "delete/"), {"post": "yes"})
    [remaining] = Relationship.objects.in_project(relationship.project)
    assert remaining.relation == Relation.BLOCKS
