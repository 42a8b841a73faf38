"""Memories in the admin: the page with relationships, and what is special to the forms."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision
from memory.memories.services import add_memory, delete_memory, update_memory
from memory.models import Memory, Relationship
from memory.relationships.services import relate
from tests.people import VIEWER, member

pytestmark = pytest.mark.usefixtures("index_is_kept")

LIST = "/admin/memory/memory/"
NASTY = "</title></svg><script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
FORM = {"title": "Locks around recompute", "content": "A stampede happens.", "context": "x", "type": "note"}


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, username="vi")


@pytest.fixture
def memory(ada: Caller) -> Memory:
    content = "Use **allkeys-lru** for sessions. Never noeviction."
    return new_memory(ada, "Redis eviction", content=content, context="Caching", tags=["caching"])


def new_memory(caller: Caller, title: str, *, content: str = "x", **more: Any) -> Memory:
    answer = add_memory(caller=caller, title=title, content=content, **more)
    return Memory.objects.in_project(caller.project).get(pk=answer["id"])


def page_of(memory: Memory, rest: str = "") -> str:
    return f"{LIST}{memory.pk}/{rest}"


def text_of(client: Client, memory: Memory, rest: str = "") -> str:
    return client.get(page_of(memory, rest)).content.decode()


def unchanged_form(client: Client, memory: Memory) -> dict[str, Any]:
    """What a browser sends when it saves an opened form unchanged."""
    form = client.get(page_of(memory, "change/")).context["adminform"].form
    return {name: form[name].field.prepare_value(form[name].value()) or "" for name in form.fields}


def last_event(project: Project) -> tuple[str, str, str]:
    event = Event.objects.in_project(project).select_related("agent").latest("pk")
    return event.verb, event.ref, str(event.agent)


# -- Page ------------------------------------------------------------------------------------------


def test_the_page_links_to_the_raw_text(client: Client, memory: Memory) -> None:
    assert f'href="{page_of(memory)}?text=raw"' in text_of(client, memory)
    assert '<pre class="ctx-value">Use **allkeys-lru** for sessions.' in text_of(client, memory, "?text=raw")


def test_html_in_a_memory_and_its_relations_is_escaped(client: Client, ada: Caller, memory: Memory) -> None:
    nasty = new_memory(ada, NASTY, content=NASTY)
    relate(caller=ada, source=memory.ref, target=nasty.ref)
    for text in (text_of(client, nasty, "?text=raw"), text_of(client, memory)):
        assert "<script>alert" not in text
        assert "<img src=x" not in text


# -- Relationships ---------------------------------------------------------------------------------


def test_neighbours_are_drawn_with_links_to_their_pages(client: Client, ada: Caller, memory: Memory) -> None:
    near, far = new_memory(ada, "Near it"), new_memory(ada, "Behind that")
    decision = set_decision(caller=ada, key="cache/engine", value="Redis")
    relate(caller=ada, source=memory.ref, target=near.ref, relation="includes", strength=80)
    relate(caller=ada, source="decision:cache/engine", target=memory.ref, relation="depends_on", strength=30)
    relate(caller=ada, source=near.ref, target=far.ref, relation="blocks", strength=20)
    page = client.get(page_of(memory))
    drawn = page.context["relationships"].drawings
    assert [drawing.name for drawing in drawn] == ["wide", "tall"]
    for drawing in drawn:
        assert [box.node.title for box in drawing.boxes] == [
            "Redis eviction",
            *(["cache/engine", "Near it", "Behind that"] if drawing.name == "wide" else ()),
            *(["Near it", "Behind that", "cache/engine"] if drawing.name == "tall" else ()),
        ]
    text = page.content.decode()
    for address in (f"{page_of(near)}#relationships", f"{page_of(far)}#relationships"):
        assert f'<a href="{address}">' in text
    assert f'<a href="{reverse("admin:memory_decision_read", args=[decision["id"]])}#links">' in text
    assert ">depends on</text>" in text


def test_the_table_names_each_relation_in_its_direction(client: Client, ada: Caller, memory: Memory) -> None:
    for n, relation in enumerate(("related", "includes", "references", "depends_on", "blocks")):
        other = new_memory(ada, f"Other {n}")
        relate(caller=ada, source=memory.ref, target=other.ref, relation=relation, strength=90 - n)
        relate(caller=ada, source=other.ref, target=memory.ref, relation=relation, strength=9 - n)
    rows = client.get(page_of(memory)).context["relationships"].neighbours.direct
    assert [each.words for each in rows] == [
        *("is related to", "includes", "references", "depends on", "blocks"),
        *("is related to", "is part of", "is referenced by", "is needed by", "is blocked by"),
    ]


def test_only_the_strongest_relationships_are_shown_with_a_link_to_all(
    client: Client, ada: Caller, memory: Memory
) -> None:
    for n in range(102):
        relate(caller=ada, source=memory.ref, target=new_memory(ada, f"m{n}").ref, strength=n % 101)
    text = text_of(client, memory)
    assert f"/admin/memory/relationship/?project=apollo&amp;q=memory%3A{memory.pk}" in text
    assert "The drawing shows the 12 strongest; 88 more are not shown." in text


def test_a_deleted_neighbour_is_not_shown(client: Client, ada: Caller, memory: Memory) -> None:
    near = new_memory(ada, "Near it")
    relate(caller=ada, source=memory.ref, target=near.ref)
    delete_memory(caller=ada, memory_id=near.pk)
    assert "Near it" not in text_of(client, memory)


@pytest.fixture
def similar_pair(ada: Caller) -> tuple[Memory, Memory]:
    content = "Use allkeys-lru for the sessions of the shop, never noeviction."
    return new_memory(ada, "Redis eviction one", content=content), new_memory(
        ada, "Redis eviction two", content=f"{content} Ask ben."
    )


def test_a_similar_memory_is_suggested_and_related_by_a_button(
    client: Client, similar_pair: tuple[Memory, Memory]
) -> None:
    one, two = similar_pair
    page = client.get(page_of(one))
    [suggested] = page.context["relationships"].suggested
    assert suggested.other.ref == two.ref
    assert [box.role for box in page.context["relationships"].drawings[0].boxes] == ["centre", "suggested"]
    sent = {"target": two.ref, "relation": suggested.relation, "strength": str(suggested.strength)}
    done = client.post(page_of(one, "relate/"), sent, follow=True)
    assert done.redirect_chain[-1][0] == f"{page_of(one)}#relationships"
    assert done.context["relationships"].suggested == []
    row = Relationship.objects.in_project(one.project).get()
    assert (row.source, row.target, row.strength) == (one.ref, two.ref, suggested.strength)
    assert last_event(one.project) == ("created", f"relationship:{row.pk}", "vi")


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"target": "memory:999999999", "relation": "related"}, "There is no memory"),
        ({"target": "", "relation": "related"}, "is not a ref"),
        ({"target": "memory:{id}", "relation": "related"}, "cannot be related to itself"),
        ({"target": "memory:999999999", "relation": "loves"}, "relation"),
    ],
)
def test_an_invalid_relationship_shows_the_error(
    client: Client, memory: Memory, sent: dict[str, str], sentence: str
) -> None:
    sent = {name: value.format(id=memory.pk) for name, value in sent.items()}
    page = client.post(page_of(memory, "relate/"), sent, follow=True)
    assert sentence in page.content.decode()
    assert not Relationship.objects.in_project(memory.project).exists()


# -- Forms -----------------------------------------------------------------------------------------


def test_the_required_fields_are_enough(client: Client, apollo: Project) -> None:
    client.post(f"{LIST}add/", {"title": "x", "content": "y", "context": "general", "type": "note"})
    assert Memory.objects.in_project(apollo).get().context.name == "general"


def test_the_add_form_takes_the_context_from_the_query(client: Client, memory: Memory) -> None:
    page = client.get(f"{LIST}add/?project=apollo&context=Caching")
    assert page.context["adminform"].form["context"].value() == "Caching"
    assert '<option value="Caching"></option>' in page.content.decode()


def test_adding_names_a_similar_memory(client: Client, ada: Caller) -> None:
    old = new_memory(ada, FORM["title"], content=FORM["content"])
    page = client.post(f"{LIST}add/", FORM, follow=True)
    assert f"Similar memories already exist: memory {old.pk}" in page.content.decode()


def test_a_memory_moves_to_another_context(client: Client, ada: Caller, memory: Memory) -> None:
    new_memory(ada, "x", context="Sessions")
    client.post(page_of(memory, "change/"), unchanged_form(client, memory) | {"context": "sessions"})
    memory.refresh_from_db()
    assert (memory.context.name, memory.context.memory_count) == ("Sessions", 2)


def test_a_concurrent_change_is_reported_before_it_is_overwritten(
    client: Client, ben: Caller, memory: Memory
) -> None:
    sent = unchanged_form(client, memory) | {"title": "Mine"}
    update_memory(caller=ben, memory_id=memory.pk, title="Theirs")
    page = client.post(page_of(memory, "change/"), sent)
    assert "Somebody else changed it while you were editing. Nothing was saved." in page.content.decode()
    memory.refresh_from_db()
    assert memory.title == "Theirs"
    again = sent | {"seen": page.context["adminform"].form["seen"].value()}
    assert client.post(page_of(memory, "change/"), again).status_code == 302
    memory.refresh_from_db()
    assert memory.title == "Mine"


# -- Rights ----------------------------------------------------------------------------------------


def test_a_viewer_relates_nothing(apollo: Project, similar_pair: tuple[Memory, Memory]) -> None:
    text = text_of(member(apollo, VIEWER, "eve"), similar_pair[0])
    assert "Possibly related" in text
    assert "/relate/" not in text


# -- Other pages -----------------------------------------------------------------------------------


def test_the_admin_index_counts_memories(client: Client, memory: Memory) -> None:
    page = client.get("/admin/")
    [counted] = [each for each in page.context["inventory"] if each.text == "1 memory"]
    assert client.get(counted.url).context["cl"].result_count == 1


def test_a_tag_links_to_its_memories(client: Client, ada: Caller, memory: Memory) -> None:
    add_constraint(caller=ada, category="performance", text="x", tags=["caching"])
    text = client.get(f"{reverse('admin:core_tag_changelist')}?q=caching").content.decode()
    assert "2 among" in text
    assert f'href="{LIST}?project=apollo&amp;tag=caching">memories</a>' in text
