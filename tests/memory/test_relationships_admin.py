"""Relationships in the admin: found by what they join, made, changed and taken back by people."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Membership, Project
from memory.decisions.services.decisions import delete_decision, set_decision
from memory.memories.services.memories import add_memory
from memory.memories.services.relationships import relate
from memory.models import Relation, Relationship
from tests.people import ADMIN, MEMBER, VIEWER, member, person, signed_in
from tests.tables import dump_project

pytestmark = pytest.mark.usefixtures("index_is_kept")

LIST = "/admin/memory/relationship/"


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, username="vi")


@pytest.fixture
def said(ada: Caller) -> Relationship:
    """A memory depends on a decision."""
    memory = remember(ada, "Redis eviction")
    set_decision(caller=ada, key="cache/engine", value="Redis")
    relate(caller=ada, source=memory, target="decision:cache/engine", relation="depends_on", strength=70)
    return Relationship.objects.in_project(ada.project).get()


def remember(caller: Caller, title: str) -> str:
    return f"memory:{add_memory(caller=caller, title=title, content='x')['id']}"


def page_of(row: Relationship, rest: str = "change/") -> str:
    return f"{LIST}{row.pk}/{rest}"


def last_event(project: Project) -> tuple[str, str, str]:
    event = Event.objects.in_project(project).select_related("agent").latest("pk")
    return event.verb, event.noun, str(event.agent)


# -- Found -----------------------------------------------------------------------------------------


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
def test_a_list_is_searched_and_filtered(query: str, found: bool, client: Client, said: Relationship) -> None:
    page = client.get(LIST + query.format(id=said.pk, memory=said.source_id))
    assert page.context["cl"].result_count == int(found)


def test_a_ref_is_looked_for_in_each_project_of_a_person(
    ada: Caller, cy: Caller, apollo: Project, hermes: Project
) -> None:
    user = person("vi", apollo)
    Membership.objects.create(project=hermes, user=user, role=MEMBER)
    for caller in (ada, cy):
        set_decision(caller=caller, key="a", value="x")
        relate(caller=caller, source="decision:a", target=remember(caller, "m"))
    found = signed_in(user).get(LIST, {"q": "decision:a"})
    assert {row.project.slug for row in found.context["cl"].result_list} == {"apollo", "hermes"}


def test_a_row_names_both_ends_and_leads_to_them(client: Client, said: Relationship) -> None:
    text = client.get(LIST).content.decode()
    for part in ("Redis eviction", "decision:cache/engine", "depends on", "70", "ada", "just now"):
        assert part in text
    assert f'href="{reverse("admin:memory_memory_read", args=[said.source_id])}#relationships"' in text
    assert f'href="{reverse("admin:memory_decision_read", args=[said.target_id])}"' in text


def test_no_page_asks_for_each_row(client: Client, ada: Caller, said: Relationship) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(LIST).status_code == 200
        return len(queries)

    def grow(numbers: range) -> None:
        for n in numbers:
            set_decision(caller=ada, key=f"k{n}", value="x")
            relate(
                caller=ada.speaking_as(f"agent-{n}"), source=remember(ada, f"m{n}"), target=f"decision:k{n}"
            )

    count()  # Django looks its content types up once.
    grow(range(3))
    few = count()
    grow(range(3, 20))
    assert count() == few


def test_html_in_a_title_is_text(client: Client, ada: Caller) -> None:
    nasty = "<script>alert(1)</script>"
    relate(caller=ada, source=remember(ada, nasty), target=remember(ada, nasty))
    row = Relationship.objects.in_project(ada.project).get()
    for page in (LIST, page_of(row), page_of(row, "delete/"), f"{LIST}add/"):
        assert nasty not in client.get(page).content.decode()


# -- Read ------------------------------------------------------------------------------------------


def test_an_event_leads_to_its_page_and_back(client: Client, said: Relationship) -> None:
    event = Event.objects.in_project(said.project).get(noun="relationship")
    opened = client.get(reverse("admin:core_event_open", args=[event.pk]))
    assert opened.headers["Location"] == page_of(said)
    history = client.get(page_of(said, "history/"), follow=True)
    assert [event.verb for event in history.context["cl"].result_list] == ["created"]


def test_what_went_with_one_of_its_ends_has_no_page(client: Client, ada: Caller, said: Relationship) -> None:
    event = Event.objects.in_project(said.project).get(noun="relationship")
    delete_decision(caller=Caller(ada.project, "ada"), key="cache/engine")
    opened = client.get(reverse("admin:core_event_open", args=[event.pk]))
    assert opened.headers["Location"] != page_of(said)
    assert client.get(page_of(said, "history/")).headers["Location"] == LIST


def test_the_page_shows_both_ends(client: Client, said: Relationship) -> None:
    text = client.get(page_of(said)).content.decode()
    for part in ("Redis eviction", "decision:cache/engine", "depends on", "stated"):
        assert part in text


# -- Written ---------------------------------------------------------------------------------------


def test_a_person_relates_two_things(client: Client, ada: Caller) -> None:
    one, other = remember(ada, "One"), remember(ada, "Other")
    sent = {"source": one, "target": other, "relation": "blocks", "strength": "90"}
    page = client.post(f"{LIST}add/", sent, follow=True)
    row = Relationship.objects.in_project(ada.project).get()
    assert (row.source, row.target, row.relation, row.strength) == (one, other, Relation.BLOCKS, 90)
    assert page.redirect_chain[-1][0] == f"/admin/memory/memory/{row.source_id}/#relationships"
    assert last_event(ada.project) == ("created", "relationship", "vi")


def test_two_things_that_are_no_memories_lead_back_to_the_list(client: Client, ada: Caller) -> None:
    for key in ("a", "b"):
        set_decision(caller=ada, key=key, value="x")
    sent = {"source": "decision:a", "target": "decision:b", "relation": "includes", "strength": "5"}
    assert client.post(f"{LIST}add/", sent, follow=True).redirect_chain[-1][0] == LIST


def test_from_a_memory_one_relates_that_memory(client: Client, said: Relationship) -> None:
    page = client.get(f"{LIST}add/?project=apollo&source={said.source}")
    assert page.context["adminform"].form["source"].value() == said.source
    assert f'<option value="{said.source}">Redis eviction</option>' in page.content.decode()


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
def test_what_is_refused_stands_on_the_form(
    client: Client, said: Relationship, changes: dict[str, str], sentence: str
) -> None:
    sent = {"source": said.source, "target": "decision:cache/engine", "relation": "blocks", "strength": "5"}
    changed = {name: value.format(source=said.source) for name, value in changes.items()}
    page = client.post(f"{LIST}add/", sent | changed)
    assert page.status_code == 200
    assert sentence in page.content.decode()
    assert Relationship.objects.in_project(said.project).count() == 1


def test_another_projects_thing_cannot_be_related(client: Client, cy: Caller, said: Relationship) -> None:
    theirs = remember(cy, "Theirs")
    sent: dict[str, Any] = {"source": said.source, "target": theirs, "relation": "blocks", "strength": "5"}
    assert "There is no memory" in client.post(f"{LIST}add/", sent).content.decode()


def test_a_person_changes_how_strong_it_is(client: Client, said: Relationship) -> None:
    client.post(page_of(said), {"strength": "5"})
    said.refresh_from_db()
    assert (said.strength, said.get_relation_display()) == (5, "depends_on")
    assert last_event(said.project) == ("updated", "relationship", "vi")


def test_a_member_takes_it_back_and_both_ends_stay(client: Client, ada: Caller, said: Relationship) -> None:
    relate(caller=ada, source=said.source, target="decision:cache/engine", relation="blocks")
    asked = client.get(page_of(said, "delete/")).content.decode()
    assert f"{said.source} depends on decision:cache/engine. Both objects stay as they are." in asked
    client.post(page_of(said, "delete/"), {"post": "yes"})
    [kept] = Relationship.objects.in_project(said.project)
    assert kept.relation == Relation.BLOCKS
    assert last_event(said.project) == ("deleted", "relationship", "vi")


def test_a_viewer_reads_and_changes_nothing(apollo: Project, said: Relationship) -> None:
    viewer = member(apollo, VIEWER, "eve")
    assert "Redis eviction" in viewer.get(page_of(said)).content.decode()
    before = dump_project(apollo)
    assert viewer.post(page_of(said), {"strength": "5"}).status_code == 403
    assert viewer.post(page_of(said, "delete/"), {"post": "yes"}).status_code == 403
    assert viewer.post(f"{LIST}add/", {"source": said.source}).status_code == 403
    assert dump_project(apollo) == before


def test_another_projects_relationship_is_not_there(hermes: Project, said: Relationship) -> None:
    stranger = member(hermes, ADMIN, "cy")
    for query in ("", f"?q={said.source}", "?q=decision:cache/engine", "?project=apollo"):
        assert stranger.get(LIST + query, follow=True).context["cl"].result_count == 0
    before = dump_project(said.project)
    for rest in ("change/", "history/", "delete/"):
        stranger.post(page_of(said, rest), {"strength": "5", "post": "yes"})
        assert "Redis eviction" not in stranger.get(page_of(said, rest), follow=True).content.decode()
    assert dump_project(said.project) == before
