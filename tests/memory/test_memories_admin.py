"""Memories in the admin: found, read with what is around them, written and changed by people."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from memory.constraints.services import add_constraint
from memory.decisions.services.decisions import set_decision
from memory.memories.services.memories import add_memory, delete_memory, update_memory
from memory.memories.services.relationships import relate
from memory.models import Memory, Relationship
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
def kept(ada: Caller) -> Memory:
    return remember(
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


def remember(caller: Caller, title: str, *, content: str = "x", **more: Any) -> Memory:
    answer = add_memory(caller=caller, title=title, content=content, **more)
    return Memory.objects.in_project(caller.project).get(pk=answer["id"])


def page_of(memory: Memory, rest: str = "") -> str:
    return f"{LIST}{memory.pk}/{rest}"


def text_of(client: Client, memory: Memory, rest: str = "") -> str:
    return client.get(page_of(memory, rest)).content.decode()


def as_shown(client: Client, memory: Memory) -> dict[str, Any]:
    """What a browser sends back of a form that was opened."""
    form = client.get(page_of(memory, "change/")).context["adminform"].form
    return {name: form[name].field.prepare_value(form[name].value()) or "" for name in form.fields}


def last_event(project: Project) -> tuple[str, str, str]:
    event = Event.objects.in_project(project).select_related("agent").latest("pk")
    return event.verb, event.ref, str(event.agent)


# -- Found -----------------------------------------------------------------------------------------


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
def test_a_list_is_searched_and_filtered(query: str, found: bool, client: Client, kept: Memory) -> None:
    page = client.get(LIST + query.format(id=kept.pk))
    assert page.context["cl"].result_count == int(found)


def test_chinese_words_are_found_in_a_list(client: Client, ada: Caller) -> None:
    remember(ada, "服務效能瓶頸")
    for typed, found in (("效能", 1), ("能效", 0)):
        assert client.get(LIST, {"q": typed}).context["cl"].result_count == found


def test_a_row_tells_its_story_and_leads_to_its_page(client: Client, kept: Memory) -> None:
    text = client.get(LIST).content.decode()
    told = (
        "Redis eviction",
        "allkeys-lru",
        "reference",
        "Caching",
        "Redis",
        "performance",
        "ada",
        "just now",
    )
    for part in (*told, f"{kept.tokens}", page_of(kept)):
        assert part in text


@pytest.mark.parametrize("page", ["", "{id}/", "{id}/change/", "add/"])
def test_no_page_asks_for_each_row(page: str, client: Client, ada: Caller, kept: Memory) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(LIST + page.format(id=kept.pk)).status_code == 200
        return len(queries)

    def grow(numbers: range) -> None:
        for n in numbers:
            near = remember(ada.speaking_as(f"agent-{n}"), f"Redis {n}", context=f"c{n}", tags=[f"t{n}"])
            relate(caller=ada, source=kept.ref, target=near.ref, strength=n)
            relate(caller=ada, source=near.ref, target=remember(ada, f"Far {n}").ref)
            remember(ada, f"Redis eviction {n}", content="Use allkeys-lru for sessions.")

    count()  # Django looks its content types up once.
    grow(range(5))
    few = count()
    grow(range(5, 20))
    assert count() == few


# -- Read ------------------------------------------------------------------------------------------


def test_the_page_shows_its_text_as_markdown_and_all_its_facts(client: Client, kept: Memory) -> None:
    text = text_of(client, kept)
    told = ("src/cache/**", "OPS-7", "hard", f"memory:{kept.pk}", "Caching", "performance")
    for part in ("<strong>allkeys-lru</strong>", *told, "?project=apollo&amp;context=Caching"):
        assert part in text


def test_the_raw_text_is_one_click_away(client: Client, kept: Memory) -> None:
    assert 'href="?text=raw"' in text_of(client, kept)
    assert '<pre class="ctx-value">Use **allkeys-lru** for sessions.' in text_of(client, kept, "?text=raw")


def test_html_in_a_memory_is_text(client: Client, ada: Caller, kept: Memory) -> None:
    nasty = remember(ada, NASTY, content=NASTY, context="<b>c", stack="<b>s", tags=["<b>t"])
    relate(caller=ada, source=kept.ref, target=nasty.ref)
    for page in (LIST, page_of(nasty), page_of(nasty, "change/"), page_of(nasty, "?text=raw"), page_of(kept)):
        text = client.get(page).content.decode()
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert "<b>" not in text


def test_its_history_is_the_log(client: Client, kept: Memory, ada: Caller) -> None:
    update_memory(caller=ada, memory_id=kept.pk, title="x")
    remember(ada, "y")
    history = client.get(page_of(kept, "history/"), follow=True)
    assert [event.verb for event in history.context["cl"].result_list] == ["updated", "created"]


@pytest.mark.parametrize("rest", ["", "history/", "relate/"])
def test_what_is_not_there_leads_back_to_the_list(rest: str, client: Client, kept: Memory) -> None:
    page = client.get(f"{LIST}{kept.pk + 1}/{rest}", follow=True)
    assert page.redirect_chain[-1][0] == LIST
    assert "Perhaps it was deleted?" in page.content.decode()


def test_an_event_leads_to_the_page(client: Client, ada: Caller, kept: Memory) -> None:
    event = Event.objects.in_project(kept.project).filter(ref=kept.ref).get()
    address = reverse("admin:core_event_open", args=[event.pk])
    assert client.get(address).headers["Location"] == page_of(kept)
    delete_memory(caller=ada, memory_id=kept.pk)
    assert client.get(address).headers["Location"] != page_of(kept)


# -- What is around it -----------------------------------------------------------------------------


def test_a_memory_without_relations_says_so(client: Client, kept: Memory) -> None:
    text = text_of(client, kept)
    assert "This memory has no relationships yet." in text
    assert "<svg class=" not in text


def test_its_neighbours_are_drawn_and_lead_to_their_pages(client: Client, ada: Caller, kept: Memory) -> None:
    near, far = remember(ada, "Near it"), remember(ada, "Behind that")
    decision = set_decision(caller=ada, key="cache/engine", value="Redis")
    relate(caller=ada, source=kept.ref, target=near.ref, relation="includes", strength=80)
    relate(caller=ada, source="decision:cache/engine", target=kept.ref, relation="depends_on", strength=30)
    relate(caller=ada, source=near.ref, target=far.ref, relation="blocks", strength=20)
    page = client.get(page_of(kept))
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
    assert f'<a href="{reverse("admin:memory_decision_read", args=[decision["id"]])}">' in text
    assert ">depends on</text>" in text


def test_the_table_says_what_this_memory_is_to_each(client: Client, ada: Caller, kept: Memory) -> None:
    for n, relation in enumerate(("related", "includes", "references", "depends_on", "blocks")):
        other = remember(ada, f"Other {n}")
        relate(caller=ada, source=kept.ref, target=other.ref, relation=relation, strength=90 - n)
        relate(caller=ada, source=other.ref, target=kept.ref, relation=relation, strength=9 - n)
    said = client.get(page_of(kept)).context["relationships"].neighbours.said
    assert [each.words for each in said] == [
        *("is related to", "includes", "references", "depends on", "blocks"),
        *("is related to", "is part of", "is referenced by", "is needed by", "is blocked by"),
    ]


def test_of_many_relationships_the_strongest_are_shown_with_the_way_to_all(
    client: Client, ada: Caller, kept: Memory
) -> None:
    for n in range(102):
        relate(caller=ada, source=kept.ref, target=remember(ada, f"m{n}").ref, strength=n % 101)
    text = text_of(client, kept)
    assert f"/admin/memory/relationship/?project=apollo&amp;q=memory%3A{kept.pk}" in text
    assert "The drawing shows the 12 strongest; 88 more are not shown." in text


def test_a_neighbour_that_is_deleted_is_gone(client: Client, ada: Caller, kept: Memory) -> None:
    near = remember(ada, "Near it")
    relate(caller=ada, source=kept.ref, target=near.ref)
    delete_memory(caller=ada, memory_id=near.pk)
    assert "Near it" not in text_of(client, kept)


@pytest.fixture
def alike(ada: Caller) -> tuple[Memory, Memory]:
    content = "Use allkeys-lru for the sessions of the shop, never noeviction."
    return remember(ada, "Redis eviction one", content=content), remember(
        ada, "Redis eviction two", content=f"{content} Ask ben."
    )


def test_what_is_alike_is_suggested_and_related_by_a_button(
    client: Client, alike: tuple[Memory, Memory]
) -> None:
    one, two = alike
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
def test_what_cannot_be_related_is_told(
    client: Client, kept: Memory, sent: dict[str, str], sentence: str
) -> None:
    sent = {name: value.format(id=kept.pk) for name, value in sent.items()}
    page = client.post(page_of(kept, "relate/"), sent, follow=True)
    assert sentence in page.content.decode()
    assert not Relationship.objects.in_project(kept.project).exists()


def test_an_address_that_is_merely_opened_relates_nothing(client: Client, kept: Memory) -> None:
    assert client.get(page_of(kept, "relate/")).headers["Location"] == f"{page_of(kept)}#relationships"
    assert not Relationship.objects.in_project(kept.project).exists()


# -- Written ---------------------------------------------------------------------------------------


def test_a_person_writes_a_memory(client: Client, apollo: Project) -> None:
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


def test_little_is_enough(client: Client, apollo: Project) -> None:
    client.post(f"{LIST}add/", {"title": "x", "content": "y", "context": "general", "type": "note"})
    assert Memory.objects.in_project(apollo).get().context.name == "general"


def test_from_a_context_one_adds_to_it(client: Client, kept: Memory) -> None:
    page = client.get(f"{LIST}add/?project=apollo&context=Caching")
    assert page.context["adminform"].form["context"].value() == "Caching"
    assert '<option value="Caching"></option>' in page.content.decode()


def test_what_is_like_a_new_memory_is_named(client: Client, ada: Caller) -> None:
    old = remember(ada, FORM["title"], content=FORM["content"])
    page = client.post(f"{LIST}add/", FORM, follow=True)
    assert f"A similar memory may exist already: memory {old.pk}" in page.content.decode()


def test_only_what_was_changed_is_changed(client: Client, kept: Memory) -> None:
    before = dump_project(kept.project)
    client.post(page_of(kept, "change/"), as_shown(client, kept))
    assert dump_project(kept.project)["memory_memory"] == before["memory_memory"]
    sent = as_shown(client, kept) | {
        "stack": "",
        "tags": "performance",
        "metadata": '{"a": 1}',
        "difficulty": "",
    }
    client.post(page_of(kept, "change/"), sent)
    kept.refresh_from_db()
    assert (kept.stack, kept.difficulty, kept.metadata) == ("", None, {"a": 1})
    assert (kept.title, kept.paths) == ("Redis eviction", ["src/cache/**"])
    assert [tag.name for tag in kept.tags.all()] == ["performance"]


def test_a_memory_moves_to_another_context(client: Client, ada: Caller, kept: Memory) -> None:
    remember(ada, "x", context="Sessions")
    client.post(page_of(kept, "change/"), as_shown(client, kept) | {"context": "sessions"})
    kept.refresh_from_db()
    assert (kept.context.name, kept.context.memory_count) == ("Sessions", 2)


def test_a_change_meanwhile_is_told_before_it_is_overwritten(
    client: Client, ben: Caller, kept: Memory
) -> None:
    sent = as_shown(client, kept) | {"title": "Mine"}
    update_memory(caller=ben, memory_id=kept.pk, title="Theirs")
    page = client.post(page_of(kept, "change/"), sent)
    assert "Somebody else has changed this memory meanwhile. Nothing was saved." in page.content.decode()
    kept.refresh_from_db()
    assert kept.title == "Theirs"
    again = sent | {"seen": page.context["adminform"].form["seen"].value()}
    assert client.post(page_of(kept, "change/"), again).status_code == 302
    kept.refresh_from_db()
    assert kept.title == "Mine"


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
def test_what_is_refused_stands_on_the_form(
    is_new: bool, client: Client, kept: Memory, changes: dict[str, str], sentence: str
) -> None:
    before = dump_project(kept.project)["memory_memory"]
    sent = FORM if is_new else as_shown(client, kept)
    page = client.post(f"{LIST}add/" if is_new else page_of(kept, "change/"), {**sent, **changes})
    assert sentence in page.content.decode()
    assert dump_project(kept.project)["memory_memory"] == before


# -- Who may ---------------------------------------------------------------------------------------


def test_a_member_deletes_and_the_page_says_what_goes(client: Client, ada: Caller, kept: Memory) -> None:
    relate(caller=ada, source=kept.ref, target=remember(ada, "x").ref)
    assert "with its relationships" in text_of(client, kept, "delete/")
    client.post(page_of(kept, "delete/"), {"post": "yes"})
    assert not Memory.objects.in_project(kept.project).filter(pk=kept.pk).exists()
    assert not Relationship.objects.in_project(kept.project).exists()
    assert last_event(kept.project) == ("deleted", kept.ref, "vi")


def test_a_viewer_reads_and_changes_nothing(
    apollo: Project, kept: Memory, alike: tuple[Memory, Memory]
) -> None:
    viewer = member(apollo, VIEWER, "eve")
    text = text_of(viewer, alike[0])
    assert "Possibly related" in text
    assert "Edit" not in text
    assert "/relate/" not in text
    assert viewer.get(page_of(kept, "change/")).headers["Location"] == page_of(kept)
    before = dump_project(apollo)
    viewer.post(page_of(kept, "relate/"), {"target": alike[0].ref, "relation": "related", "strength": "5"})
    assert viewer.post(page_of(kept, "change/"), FORM).status_code == 403
    assert viewer.post(page_of(kept, "delete/"), {"post": "yes"}).status_code == 403
    assert viewer.post(f"{LIST}add/", FORM).status_code == 403
    assert dump_project(apollo) == before


def test_another_projects_memory_is_not_there(hermes: Project, kept: Memory) -> None:
    stranger = member(hermes, ADMIN, "cy")
    assert stranger.get(LIST).context["cl"].result_count == 0
    before = dump_project(kept.project)
    for rest in ("", "relate/", "change/", "history/", "delete/"):
        stranger.post(
            page_of(kept, rest), {**FORM, "post": "yes", "target": "memory:1", "relation": "related"}
        )
        assert "Redis eviction" not in stranger.get(page_of(kept, rest), follow=True).content.decode()
    assert dump_project(kept.project) == before


# -- Beside it -------------------------------------------------------------------------------------


def test_the_index_counts_them_and_shows_the_newest(client: Client, kept: Memory) -> None:
    page = client.get("/admin/")
    [card] = [card for card in page.context["cards"] if card.title == "Memories"]
    assert (card.value, client.get(card.url).context["cl"].result_count) == (1, 1)
    assert f'href="{page_of(kept)}">Redis eviction</a>' in page.content.decode()


def test_a_word_leads_to_memories(client: Client, ada: Caller, kept: Memory) -> None:
    add_constraint(caller=ada, category="performance", text="x", tags=["caching"])
    text = client.get(f"{reverse('admin:core_tag_changelist')}?q=caching").content.decode()
    assert "2 among" in text
    assert f'href="{LIST}?project=apollo&amp;tag=caching">memories</a>' in text
