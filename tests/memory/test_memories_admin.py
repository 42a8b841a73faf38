"""Memories in the admin: the list, the page with relationships, the forms, the rights."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision
from memory.memories.services import add_memory, delete_memory, update_memory
from memory.models import Memory, Relationship
from memory.relationships.services import relate
from tests.people import ADMIN, VIEWER, member
from tests.tables import dump_project

pytestmark = pytest.mark.usefixtures("index_is_kept")

LIST = "/admin/memory/memory/"
NASTY = "</title></svg><script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
FORM: dict[str, Any] = {
    "title": "Locks around recompute",
    "content": "A stampede happens.\r\nLock first.",
    "context": "Caching",
    "type": "snippet",
    "stack": "redis",
    "difficulty": "hard",
    "tags": "caching, brand-new",
    "paths": "src/**\r\nlib/**",
    "metadata": '{"ticket": "OPS-7"}',
}


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, username="vi")


@pytest.fixture
def memory(ada: Caller) -> Memory:
    return new_memory(
        ada,
        "Redis eviction",
        content="Use **allkeys-lru** for sessions. Never noeviction.",
        context="Caching",
        type="reference",
        stack="Redis",
        difficulty="hard",
        tags=["caching", "performance"],
        paths=["src/cache/**"],
        metadata={"ticket": "OPS-7"},
    )


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


# -- List ------------------------------------------------------------------------------------------


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?q=eviction", True),
        ("?q=evicting+sess", True),
        ("?q=eviction+-sessions", False),
        ("?q=memory:{id}", True),
        ("?q=memory:0", False),
        ("?q=memory:99999999999999999999", False),
        ("?q=nothing", False),
        ("?context=caching", True),
        ("?context=cach", True),
        ("?context=general", False),
        ("?type__exact=4", True),
        ("?type__exact=1", False),
        ("?difficulty__exact=3", True),
        ("?difficulty__exact=1", False),
        ("?stack=REDIS", True),
        ("?stack=red", False),
        ("?tag=Caching", True),
        ("?tag=nosuch", False),
        ("?agent=ada", True),
        ("?agent=ben", False),
        ("?project=apollo", True),
    ],
)
def test_a_list_is_searched_and_filtered(query: str, found: bool, client: Client, memory: Memory) -> None:
    page = client.get(LIST + query.format(id=memory.pk))
    assert page.context["cl"].result_count == int(found)


@pytest.mark.every_engine
def test_chinese_words_are_found_in_a_list(client: Client, ada: Caller) -> None:
    new_memory(ada, "服務效能瓶頸")
    for typed, found in (("效能", 1), ("能效", 0)):
        assert client.get(LIST, {"q": typed}).context["cl"].result_count == found


def test_a_row_shows_the_memory_and_links_to_its_page(client: Client, memory: Memory) -> None:
    text = client.get(LIST).content.decode()
    expected = (
        "Redis eviction",
        "allkeys-lru",
        "reference",
        "Caching",
        "Redis",
        "performance",
        "ada",
        "just now",
    )
    for part in (*expected, f"{memory.tokens}", page_of(memory)):
        assert part in text


@pytest.mark.parametrize("page", ["", "{id}/", "{id}/change/", "add/"])
def test_no_page_runs_queries_per_row(page: str, client: Client, ada: Caller, memory: Memory) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(LIST + page.format(id=memory.pk)).status_code == 200
        return len(queries)

    def grow(numbers: range) -> None:
        for n in numbers:
            near = new_memory(ada.speaking_as(f"agent-{n}"), f"Redis {n}", context=f"c{n}", tags=[f"t{n}"])
            relate(caller=ada, source=memory.ref, target=near.ref, strength=n)
            relate(caller=ada, source=near.ref, target=new_memory(ada, f"Far {n}").ref)
            new_memory(ada, f"Redis eviction {n}", content="Use allkeys-lru for sessions.")

    count()  # Django looks its content types up once.
    grow(range(5))
    few = count()
    grow(range(5, 20))
    assert count() == few


# -- Page ------------------------------------------------------------------------------------------


def test_the_page_renders_markdown_and_shows_all_fields(client: Client, memory: Memory) -> None:
    text = text_of(client, memory)
    expected = ("src/cache/**", "OPS-7", "hard", f"memory:{memory.pk}", "Caching", "performance")
    for part in ("<strong>allkeys-lru</strong>", *expected, "?project=apollo&amp;context=Caching"):
        assert part in text


def test_the_page_links_to_the_raw_text(client: Client, memory: Memory) -> None:
    assert f'href="{page_of(memory)}?text=raw"' in text_of(client, memory)
    assert '<pre class="ctx-value">Use **allkeys-lru** for sessions.' in text_of(client, memory, "?text=raw")


def test_html_in_a_memory_is_escaped(client: Client, ada: Caller, memory: Memory) -> None:
    nasty = new_memory(ada, NASTY, content=NASTY, context="<b>c", stack="<b>s", tags=["<b>t"])
    relate(caller=ada, source=memory.ref, target=nasty.ref)
    for page in (
        LIST,
        page_of(nasty),
        page_of(nasty, "change/"),
        page_of(nasty, "?text=raw"),
        page_of(memory),
    ):
        text = client.get(page).content.decode()
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert "<b>" not in text


def test_the_history_lists_its_events(client: Client, memory: Memory, ada: Caller) -> None:
    update_memory(caller=ada, memory_id=memory.pk, title="x")
    new_memory(ada, "y")
    history = client.get(page_of(memory, "history/"), follow=True)
    assert [event.verb for event in history.context["cl"].result_list] == ["updated", "created"]


@pytest.mark.parametrize("rest", ["", "history/", "relate/"])
def test_a_missing_memory_redirects_to_the_list(rest: str, client: Client, memory: Memory) -> None:
    page = client.get(f"{LIST}{memory.pk + 1}/{rest}", follow=True)
    assert page.redirect_chain[-1][0] == LIST
    assert "Perhaps it was deleted?" in page.content.decode()


def test_an_event_links_to_the_page(client: Client, ada: Caller, memory: Memory) -> None:
    event = Event.objects.in_project(memory.project).filter(ref=memory.ref).get()
    address = reverse("admin:core_event_open", args=[event.pk])
    assert client.get(address).headers["Location"] == page_of(memory)
    delete_memory(caller=ada, memory_id=memory.pk)
    assert client.get(address).headers["Location"] != page_of(memory)


# -- Relationships ---------------------------------------------------------------------------------


def test_a_memory_without_relations_says_so(client: Client, memory: Memory) -> None:
    text = text_of(client, memory)
    assert "This memory has no relationships yet." in text
    assert "<svg class=" not in text


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


def test_a_get_request_relates_nothing(client: Client, memory: Memory) -> None:
    assert client.get(page_of(memory, "relate/")).headers["Location"] == f"{page_of(memory)}#relationships"
    assert not Relationship.objects.in_project(memory.project).exists()


# -- Forms -----------------------------------------------------------------------------------------


def test_the_form_adds_a_memory(client: Client, apollo: Project) -> None:
    page = client.post(f"{LIST}add/", FORM, follow=True)
    made = Memory.objects.in_project(apollo).select_related("context", "agent").get()
    assert page.redirect_chain[-1][0] == page_of(made)
    assert (made.title, made.content) == (FORM["title"], "A stampede happens.\nLock first.")
    assert (made.context.name, made.get_type_display(), made.stack) == ("Caching", "snippet", "redis")
    assert (made.get_difficulty_display(), made.paths, made.metadata) == (
        "hard",
        ["src/**", "lib/**"],
        {"ticket": "OPS-7"},
    )
    assert sorted(tag.name for tag in made.tags.all()) == ["brand-new", "caching"]
    assert last_event(apollo) == ("created", made.ref, "vi")


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


def test_the_form_changes_only_edited_fields(client: Client, memory: Memory) -> None:
    before = dump_project(memory.project)
    client.post(page_of(memory, "change/"), unchanged_form(client, memory))
    assert dump_project(memory.project)["memory_memory"] == before["memory_memory"]
    sent = unchanged_form(client, memory) | {
        "stack": "",
        "tags": "performance",
        "metadata": '{"a": 1}',
        "difficulty": "",
    }
    client.post(page_of(memory, "change/"), sent)
    memory.refresh_from_db()
    assert (memory.stack, memory.difficulty, memory.metadata) == ("", None, {"a": 1})
    assert (memory.title, memory.paths) == ("Redis eviction", ["src/cache/**"])
    assert [tag.name for tag in memory.tags.all()] == ["performance"]


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


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"content": ""}, "content must not be empty."),
        ({"title": ""}, "This field is required."),
        ({"title": "x" * 501}, "at most 500 characters"),
        ({"context": ""}, "This field is required."),
        ({"context": "123456"}, "123456"),
        ({"paths": "../x"}, "must be relative to the repository"),
        ({"tags": "x" * 101}, "the limit is 100"),
        ({"metadata": "[1]"}, "Write a JSON object"),
        ({"content": "ghp_" + "a1B2" * 9}, "seems to hold a credential"),
    ],
)
@pytest.mark.parametrize("is_new", [True, False])
def test_errors_are_shown_on_the_form(
    is_new: bool, client: Client, memory: Memory, changes: dict[str, str], sentence: str
) -> None:
    before = dump_project(memory.project)["memory_memory"]
    sent = FORM if is_new else unchanged_form(client, memory)
    page = client.post(f"{LIST}add/" if is_new else page_of(memory, "change/"), {**sent, **changes})
    assert sentence in page.content.decode()
    assert dump_project(memory.project)["memory_memory"] == before


# -- Rights ----------------------------------------------------------------------------------------


@pytest.mark.every_engine
def test_a_member_deletes_and_the_page_names_what_is_deleted(
    client: Client, ada: Caller, memory: Memory
) -> None:
    relate(caller=ada, source=memory.ref, target=new_memory(ada, "x").ref)
    assert "with its relationships" in text_of(client, memory, "delete/")
    client.post(page_of(memory, "delete/"), {"post": "yes"})
    assert not Memory.objects.in_project(memory.project).filter(pk=memory.pk).exists()
    assert not Relationship.objects.in_project(memory.project).exists()
    assert last_event(memory.project) == ("deleted", memory.ref, "vi")


def test_a_viewer_reads_and_changes_nothing(
    apollo: Project, memory: Memory, similar_pair: tuple[Memory, Memory]
) -> None:
    viewer = member(apollo, VIEWER, "eve")
    text = text_of(viewer, similar_pair[0])
    assert "Possibly related" in text
    assert "Edit" not in text
    assert "/relate/" not in text
    assert viewer.get(page_of(memory, "change/")).headers["Location"] == page_of(memory)
    before = dump_project(apollo)
    viewer.post(
        page_of(memory, "relate/"), {"target": similar_pair[0].ref, "relation": "related", "strength": "5"}
    )
    assert viewer.post(page_of(memory, "change/"), FORM).status_code == 403
    assert viewer.post(page_of(memory, "delete/"), {"post": "yes"}).status_code == 403
    assert viewer.post(f"{LIST}add/", FORM).status_code == 403
    assert dump_project(apollo) == before


def test_another_projects_memory_is_not_found(hermes: Project, memory: Memory) -> None:
    stranger = member(hermes, ADMIN, "cleo")
    assert stranger.get(LIST).context["cl"].result_count == 0
    before = dump_project(memory.project)
    for rest in ("", "relate/", "change/", "history/", "delete/"):
        stranger.post(
            page_of(memory, rest), {**FORM, "post": "yes", "target": "memory:1", "relation": "related"}
        )
        assert "Redis eviction" not in stranger.get(page_of(memory, rest), follow=True).content.decode()
    assert dump_project(memory.project) == before


# -- Other pages -----------------------------------------------------------------------------------


def test_the_admin_index_counts_memories_and_shows_the_newest(client: Client, memory: Memory) -> None:
    page = client.get("/admin/")
    [counted] = [each for each in page.context["inventory"] if each.text == "1 memory"]
    assert client.get(counted.url).context["cl"].result_count == 1
    assert f'href="{page_of(memory)}">Redis eviction</a>' in page.content.decode()


def test_a_tag_links_to_its_memories(client: Client, ada: Caller, memory: Memory) -> None:
    add_constraint(caller=ada, category="performance", text="x", tags=["caching"])
    text = client.get(f"{reverse('admin:core_tag_changelist')}?q=caching").content.decode()
    assert "2 among" in text
    assert f'href="{LIST}?project=apollo&amp;tag=caching">memories</a>' in text
