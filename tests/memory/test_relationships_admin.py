"""Relationships in the admin: the list, the page, the forms, the rights."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Membership, Project
from memory.decisions.services import delete_decision, set_decision
from memory.memories.services import add_memory
from memory.models import Relation, Relationship
from memory.relationships.services import relate
from tests.people import ADMIN, MEMBER, VIEWER, member, person, signed_in
from tests.tables import dump_project

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


def last_event(project: Project) -> tuple[str, str, str]:
    event = Event.objects.in_project(project).select_related("agent").latest("pk")
    return event.verb, event.noun, str(event.agent)


# -- List ------------------------------------------------------------------------------------------


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?q=memory:{memory}", True),
        ("?q={memory}", True),
        ("?q=decision:cache/engine", True),
        ("?q=decision:cache/other", False),
        ("?q=memory:0", False),
        ("?q=memory:99999999999999999999", False),
        ("?q=nonsense", False),
        ("?q=relationship:{id}", True),
        ("?q=relationship:0", False),
        ("?relation__exact=4", True),
        ("?relation__exact=1", False),
        ("?agent=ada", True),
        ("?agent=ben", False),
        ("?project=apollo", True),
    ],
)
def test_a_list_is_searched_and_filtered(
    query: str, found: bool, client: Client, relationship: Relationship
) -> None:
    page = client.get(LIST + query.format(id=relationship.pk, memory=relationship.source_id))
    assert page.context["cl"].result_count == int(found)


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


def test_a_row_names_both_ends_and_links_to_them(client: Client, relationship: Relationship) -> None:
    text = client.get(LIST).content.decode()
    for part in ("Redis eviction", "decision:cache/engine", "depends on", "70", "ada", "just now"):
        assert part in text
    assert (
        f'href="{reverse("admin:memory_memory_read", args=[relationship.source_id])}#relationships"' in text
    )
    assert f'href="{reverse("admin:memory_decision_read", args=[relationship.target_id])}#links"' in text


def test_the_list_runs_no_queries_per_row(client: Client, ada: Caller, relationship: Relationship) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(LIST).status_code == 200
        return len(queries)

    def grow(numbers: range) -> None:
        for n in numbers:
            set_decision(caller=ada, key=f"k{n}", value="x")
            relate(
                caller=ada.speaking_as(f"agent-{n}"), source=new_memory(ada, f"m{n}"), target=f"decision:k{n}"
            )

    count()  # Django looks its content types up once.
    grow(range(3))
    few = count()
    grow(range(3, 20))
    assert count() == few


def test_html_in_a_title_is_escaped(client: Client, ada: Caller) -> None:
    nasty = "<script>alert(1)</script>"
    relate(caller=ada, source=new_memory(ada, nasty), target=new_memory(ada, nasty))
    row = Relationship.objects.in_project(ada.project).get()
    for page in (LIST, page_of(row), page_of(row, "delete/"), f"{LIST}add/"):
        assert nasty not in client.get(page).content.decode()


# -- Page ------------------------------------------------------------------------------------------


def test_an_event_links_to_the_page_and_the_history_lists_it(
    client: Client, relationship: Relationship
) -> None:
    event = Event.objects.in_project(relationship.project).get(noun="relationship")
    opened = client.get(reverse("admin:core_event_open", args=[event.pk]))
    assert opened.headers["Location"] == page_of(relationship)
    history = client.get(page_of(relationship, "history/"), follow=True)
    assert [event.verb for event in history.context["cl"].result_list] == ["created"]


def test_a_relationship_deleted_with_one_end_has_no_page(
    client: Client, ada: Caller, relationship: Relationship
) -> None:
    event = Event.objects.in_project(relationship.project).get(noun="relationship")
    delete_decision(caller=Caller(ada.project, "ada"), key="cache/engine")
    opened = client.get(reverse("admin:core_event_open", args=[event.pk]))
    assert opened.headers["Location"] != page_of(relationship)
    assert client.get(page_of(relationship, "history/")).headers["Location"] == LIST


def test_the_page_shows_both_ends(client: Client, relationship: Relationship) -> None:
    text = client.get(page_of(relationship)).content.decode()
    for part in ("Redis eviction", "decision:cache/engine", "depends on", "entered"):
        assert part in text


# -- Forms and rights ------------------------------------------------------------------------------


def test_the_form_relates_two_objects(client: Client, ada: Caller) -> None:
    one, other = new_memory(ada, "One"), new_memory(ada, "Other")
    sent = {"source": one, "target": other, "relation": "blocks", "strength": "90"}
    page = client.post(f"{LIST}add/", sent, follow=True)
    row = Relationship.objects.in_project(ada.project).get()
    assert (row.source, row.target, row.relation, row.strength) == (one, other, Relation.BLOCKS, 90)
    assert page.redirect_chain[-1][0] == f"/admin/memory/memory/{row.source_id}/#relationships"
    assert last_event(ada.project) == ("created", "relationship", "vi")


def test_relating_two_decisions_redirects_to_the_list(client: Client, ada: Caller) -> None:
    for key in ("a", "b"):
        set_decision(caller=ada, key=key, value="x")
    sent = {"source": "decision:a", "target": "decision:b", "relation": "includes", "strength": "5"}
    assert client.post(f"{LIST}add/", sent, follow=True).redirect_chain[-1][0] == LIST


def test_the_add_form_takes_the_source_from_the_query(client: Client, relationship: Relationship) -> None:
    page = client.get(f"{LIST}add/?project=apollo&source={relationship.source}")
    assert page.context["adminform"].form["source"].value() == relationship.source
    assert f'<option value="{relationship.source}">Redis eviction</option>' in page.content.decode()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"source": ""}, "This field is required."),
        ({"target": "memory:999999999"}, "There is no memory"),
        ({"target": "decision:nosuch"}, "There is no decision"),
        ({"target": "nonsense"}, "is not a ref"),
        ({"target": "agent:ada"}, "agent"),
        ({"target": "{source}"}, "cannot be related to itself"),
        ({"relation": "loves"}, "Select a valid choice"),
        ({"strength": "101"}, "less than or equal to 100"),
        ({"strength": "-1"}, "greater than or equal to 0"),
        ({"strength": "x"}, "Enter a whole number"),
    ],
)
def test_errors_are_shown_on_the_form(
    client: Client, relationship: Relationship, changes: dict[str, str], sentence: str
) -> None:
    sent = {
        "source": relationship.source,
        "target": "decision:cache/engine",
        "relation": "blocks",
        "strength": "5",
    }
    changed = {name: value.format(source=relationship.source) for name, value in changes.items()}
    page = client.post(f"{LIST}add/", sent | changed)
    assert page.status_code == 200
    assert sentence in page.content.decode()
    assert Relationship.objects.in_project(relationship.project).count() == 1


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


def test_the_form_changes_the_strength(client: Client, relationship: Relationship) -> None:
    client.post(page_of(relationship), {"strength": "5"})
    relationship.refresh_from_db()
    assert (relationship.strength, relationship.get_relation_display()) == (5, "depends_on")
    assert last_event(relationship.project) == ("updated", "relationship", "vi")


@pytest.mark.every_engine
def test_a_member_deletes_a_relationship_and_both_ends_stay(
    client: Client, ada: Caller, relationship: Relationship
) -> None:
    relate(caller=ada, source=relationship.source, target="decision:cache/engine", relation="blocks")
    confirmation = client.get(page_of(relationship, "delete/")).content.decode()
    assert (
        f"{relationship.source} depends on decision:cache/engine. Both objects stay as they are."
        in confirmation
    )
    client.post(page_of(relationship, "delete/"), {"post": "yes"})
    [remaining] = Relationship.objects.in_project(relationship.project)
    assert remaining.relation == Relation.BLOCKS
    assert last_event(relationship.project) == ("deleted", "relationship", "vi")


def test_a_viewer_reads_and_changes_nothing(apollo: Project, relationship: Relationship) -> None:
    viewer = member(apollo, VIEWER, "eve")
    assert "Redis eviction" in viewer.get(page_of(relationship)).content.decode()
    before = dump_project(apollo)
    assert viewer.post(page_of(relationship), {"strength": "5"}).status_code == 403
    assert viewer.post(page_of(relationship, "delete/"), {"post": "yes"}).status_code == 403
    assert viewer.post(f"{LIST}add/", {"source": relationship.source}).status_code == 403
    assert dump_project(apollo) == before


def test_another_projects_relationship_is_not_found(hermes: Project, relationship: Relationship) -> None:
    stranger = member(hermes, ADMIN, "cleo")
    for query in ("", f"?q={relationship.source}", "?q=decision:cache/engine", "?project=apollo"):
        assert stranger.get(LIST + query, follow=True).context["cl"].result_count == 0
    before = dump_project(relationship.project)
    for rest in ("change/", "history/", "delete/"):
        stranger.post(page_of(relationship, rest), {"strength": "5", "post": "yes"})
        assert "Redis eviction" not in stranger.get(page_of(relationship, rest), follow=True).content.decode()
    assert dump_project(relationship.project) == before
