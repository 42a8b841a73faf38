"""Memory services: adding, reading, changing and deleting."""

from typing import Any

import pytest

from ctxhub.core.events.counters import Stats
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotFound
from ctxhub.core.kit.inputs import CONTENT_BYTES
from ctxhub.core.models import Agent, Event, Project, Tag
from ctxhub.core.search.search import search
from memory.contexts.queries import get_context
from memory.contexts.services import create_context
from memory.memories.queries import get_memory, memory_item
from memory.memories.rows import tokens_of
from memory.memories.services import add_memory, delete_memory, update_memory
from memory.models import Context, Memory, MemoryTag
from tests.tables import dump_project

pytestmark = pytest.mark.usefixtures("index_is_kept")

TITLE = "Caching the product list"
CONTENT = "Keep it in Redis for five minutes. Without it the page takes two seconds."
ALL_FIELDS: dict[str, Any] = {
    "type": "reference",
    "stack": "Django",
    "difficulty": "hard",
    "tags": ["caching", "shop"],
    "paths": ["shop/views/*.py"],
    "metadata": {"seen": 1},
}
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


def add(caller: Caller, title: str = TITLE, content: str = CONTENT, **rest: Any) -> int:
    return add_memory(caller=caller, title=title, content=content, **rest)["id"]


def item(caller: Caller, memory_id: int) -> dict[str, Any]:
    return memory_item(get_memory(caller.project_id, memory_id))


def count_in(caller: Caller, context: str) -> int:
    return get_context(caller.project_id, context).memory_count


def last_event(project: Project) -> tuple[str, str, dict[str, Any]]:
    event = Event.objects.in_project(project).order_by("-id")[0]
    return event.noun, event.verb, event.data


# -- Adding ----------------------------------------------------------------------------------------


def test_a_memory_stores_all_fields(ada: Caller) -> None:
    create_context(caller=ada, name="shop")
    made = add_memory(caller=ada, title=f" {TITLE} ", content=CONTENT, context="SHOP", **ALL_FIELDS)
    tokens = tokens_of(TITLE, CONTENT)
    assert made == {"id": made["id"], "digest": "Keep it in Redis for five minutes.", "tokens": tokens}
    whole = item(ada, made["id"])
    assert {name: whole[name] for name in ALL_FIELDS} == ALL_FIELDS
    assert (whole["title"], whole["content"], whole["context"]) == (TITLE, CONTENT, "shop")
    assert (whole["digest"], whole["tokens"]) == (made["digest"], tokens)
    assert (whole["agent"], whole["created"]) == ("ada", whole["updated"])
    assert last_event(ada.project) == ("memory", "created", {"note": "reference in shop"})


def test_title_and_content_are_enough(ada: Caller) -> None:
    made = add_memory(caller=ada, title=TITLE, content=CONTENT)
    assert made["context_created"] is True
    whole = item(ada, made["id"])
    assert (whole["context"], whole["type"], whole["difficulty"]) == ("general", "note", None)
    assert [whole[name] for name in ("stack", "tags", "paths", "metadata")] == ["", [], [], {}]


def test_a_new_context_name_creates_the_context_once(ada: Caller) -> None:
    created = [add_memory(caller=ada, title=TITLE, content="x", context=name) for name in ("New", "NEW")]
    assert [made.get("context_created") for made in created] == [True, None]
    assert [context.name for context in Context.objects.in_project(ada.project)] == ["New"]
    nouns = list(Event.objects.in_project(ada.project).order_by("id").values_list("noun", flat=True))
    assert nouns == ["context", "memory", "memory"]
    assert (count_in(ada, "new"), Stats(ada.project_id).of("context")) == (2, 1)


def test_a_context_may_be_named_by_its_id(ada: Caller) -> None:
    row_id = create_context(caller=ada, name="shop")["id"]
    for context in (row_id, str(row_id), f"context:{row_id}"):
        assert item(ada, add(ada, context=context))["context"] == "shop"


@pytest.mark.parametrize("context", ["999999", "0", 999_999])
def test_an_unknown_context_id_is_not_found(ada: Caller, context: str | int) -> None:
    before = dump_project(ada.project)
    with pytest.raises(NotFound):
        add(ada, context=context)
    assert dump_project(ada.project) == before


def test_a_duplicate_is_stored_and_named_as_similar(ada: Caller, ben: Caller) -> None:
    first = add(ada)
    again = add_memory(caller=ben, title=TITLE, content=CONTENT)
    assert again["similar"] == [{"id": first, "title": TITLE, "score": 1.0}]
    assert Memory.objects.in_project(ada.project).count() == 2


def test_a_write_only_caller_gets_no_similar_memories(ada: Caller, apollo: Project) -> None:
    add(ada)
    writer = Caller(project=apollo, agent="w", scopes=frozenset({"write"}))
    assert "similar" not in add_memory(caller=writer, title=TITLE, content=CONTENT)


def test_tags_keep_the_first_spelling_of_the_project(ada: Caller) -> None:
    add(ada, tags=["Redis"])
    assert item(ada, add(ada, tags=["REDIS", "redis"]))["tags"] == ["Redis"]
    assert Tag.objects.in_project(ada.project).filter(folded="redis").count() == 1


@pytest.mark.parametrize("value", ["Idea", "IDEA", " idea ", 6, "6"])
def test_a_type_is_a_word_in_any_case_or_a_number(ada: Caller, value: str | int) -> None:
    assert item(ada, add(ada, type=value))["type"] == "idea"


@pytest.mark.parametrize("value", ["Hard", "HARD", 3, "3"])
def test_a_difficulty_is_a_word_in_any_case_or_a_number(ada: Caller, value: str | int) -> None:
    assert item(ada, add(ada, difficulty=value))["difficulty"] == "hard"


def test_the_largest_content_is_stored_whole(ada: Caller) -> None:
    content = ("word " * (CONTENT_BYTES // 5 + 1))[:CONTENT_BYTES]
    assert item(ada, add(ada, content=content))["content"] == content


def test_content_is_stored_unchanged(ada: Caller) -> None:
    for content in ("x", " ", "\n  a\r\n", "快取 效能 🧠", '{"a": 1}'):
        assert item(ada, add(ada, content=content))["content"] == content


BAD: list[tuple[dict[str, Any], str]] = [
    ({"title": ""}, "title must not be blank"),
    ({"title": "  "}, "title must not be blank"),
    ({"title": "x" * 501}, "title has 501 characters; the limit is 500"),
    ({"title": "a\x00b"}, "title holds a NUL character"),
    ({"title": TOKEN}, "title seems to hold a credential"),
    ({"content": ""}, "content must not be empty"),
    ({"content": "x" * (CONTENT_BYTES + 1)}, "content has 1,048,577 bytes; the limit is 1,048,576"),
    ({"content": "a\x00b"}, "content holds a NUL character"),
    ({"content": f"The token is {TOKEN}."}, "content seems to hold a credential"),
    ({"type": "poem"}, "type: 'poem' is not known; use one of: note, conversation"),
    ({"type": 7}, "type: 7 is not known"),
    ({"difficulty": "extreme"}, "difficulty: 'extreme' is not known"),
    ({"stack": "x" * 101}, "stack has 101 characters"),
    ({"stack": TOKEN}, "stack seems to hold a credential"),
    ({"context": ""}, "context must not be blank"),
    ({"context": "x" * 201}, "context has 201 characters"),
    ({"context": TOKEN}, "context seems to hold a credential"),
    ({"tags": ["x" * 101]}, r"tags\[0\] has 101 characters"),
    ({"tags": [TOKEN]}, "tags seems to hold a credential"),
    ({"paths": ["../etc"]}, r"paths\[0\]: '../etc' must be relative"),
    ({"metadata": {"a": float("nan")}}, "metadata is not JSON"),
    ({"metadata": {"a": TOKEN}}, "metadata seems to hold a credential"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=str)
def test_invalid_values_are_refused(ada: Caller, arguments: dict[str, Any], message: str) -> None:
    row_id = add(ada)
    before = dump_project(ada.project)
    with pytest.raises(InvalidInput, match=message):
        add(ada, **arguments)
    with pytest.raises(InvalidInput, match=message):
        update_memory(caller=ada, memory_id=row_id, **arguments)
    assert dump_project(ada.project) == before


def test_an_administrator_may_store_a_secret(apollo: Project) -> None:
    root = Caller(project=apollo, agent="root", keeps_secrets=True)
    assert item(root, add(root, content=TOKEN))["content"] == TOKEN


# -- Reading ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("memory_id", [0, -1, 999_999, 2**63, 10**30])
def test_an_unknown_memory_is_not_found(ada: Caller, memory_id: int) -> None:
    with pytest.raises(NotFound, match="There is no memory"):
        get_memory(ada.project_id, memory_id)


def test_another_projects_memory_does_not_exist(ada: Caller, cy: Caller) -> None:
    row_id = add(ada)
    with pytest.raises(NotFound):
        get_memory(cy.project_id, row_id)
    for service in (update_memory, delete_memory):
        with pytest.raises(NotFound):
            service(caller=cy, memory_id=row_id)


# -- Changing --------------------------------------------------------------------------------------

CHANGES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"title": "Other"}, {"title": "Other", "tokens": tokens_of("Other", CONTENT)}),
    (
        {"content": "Do not. It is slow."},
        {
            "content": "Do not. It is slow.",
            "digest": "Do not.",
            "tokens": tokens_of(TITLE, "Do not. It is slow."),
        },
    ),
    (
        {"title": "Other", "content": "```\nx\n```"},
        {
            "title": "Other",
            "content": "```\nx\n```",
            "digest": "Other",
            "tokens": tokens_of("Other", "```\nx\n```"),
        },
    ),
    ({"type": "task"}, {"type": "task"}),
    ({"type": 1}, {"type": "note"}),
    ({"stack": "rust"}, {"stack": "rust"}),
    ({"stack": ""}, {"stack": ""}),
    ({"stack": None}, {"stack": ""}),
    ({"difficulty": "easy"}, {"difficulty": "easy"}),
    ({"difficulty": ""}, {"difficulty": None}),
    ({"difficulty": None}, {"difficulty": None}),
    ({"tags": ["SHOP", "new"]}, {"tags": ["new", "shop"]}),
    ({"tags": []}, {"tags": []}),
    ({"tags": None}, {"tags": []}),
    ({"paths": ["a.py"]}, {"paths": ["a.py"]}),
    ({"paths": []}, {"paths": []}),
    ({"metadata": {"a": {"b": None}}}, {"metadata": {"seen": 1, "a": {"b": None}}}),
    ({"metadata": {"seen": None}}, {"metadata": {}}),
    ({"metadata": None}, {"metadata": {}}),
    ({"context": "zoo"}, {"context": "zoo"}),
]


@pytest.mark.parametrize(("arguments", "changed"), CHANGES, ids=str)
def test_an_update_changes_only_the_given_fields(
    ada: Caller, ben: Caller, arguments: dict[str, Any], changed: dict[str, Any]
) -> None:
    create_context(caller=ada, name="zoo")
    row_id = add(ada, **ALL_FIELDS)
    before = item(ada, row_id)
    answer = update_memory(caller=ben, memory_id=row_id, **arguments)
    after = item(ada, row_id)
    revision = 1 + ("title" in changed or "content" in changed)
    assert after == {**before, **changed, "revision": revision, "updated": after["updated"]}
    shown = {name: after[name] for name in ("id", "digest", "tokens", "revision")}
    assert answer == {**shown, "result": "updated"}
    [event] = Event.objects.in_project(ada.project).filter(verb="updated")
    assert (event.agent and event.agent.name, set(event.data["changed"])) == ("ben", set(arguments))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"title": f" {TITLE} "},
        {"content": CONTENT},
        {**ALL_FIELDS, "tags": ["SHOP", "caching"]},
        {"metadata": {}},
    ],
)
def test_an_update_with_the_stored_values_changes_nothing(ada: Caller, arguments: dict[str, Any]) -> None:
    row_id = add(ada, context="shop", **ALL_FIELDS)
    before = dump_project(ada.project)
    assert update_memory(caller=ada, memory_id=row_id, context="SHOP", **arguments)["result"] == "unchanged"
    assert dump_project(ada.project) == before


def test_a_changed_title_becomes_the_digest_of_content_that_is_code(ada: Caller) -> None:
    row_id = add(ada, content="```\nx\n```")
    assert update_memory(caller=ada, memory_id=row_id, title="Other")["digest"] == "Other"


def test_a_move_updates_the_counts_of_both_contexts(ada: Caller) -> None:
    row_id = add(ada, context="shop")
    add(ada, context="shop")
    zoo = create_context(caller=ada, name="zoo")["id"]
    update_memory(caller=ada, memory_id=row_id, context=zoo)
    assert (count_in(ada, "shop"), count_in(ada, "zoo")) == (1, 1)
    assert get_context(ada.project_id, "shop").updated_at == get_context(ada.project_id, "zoo").updated_at
    assert [hit.ref for hit in search(ada.project_id, TITLE, context="zoo").hits] == [f"memory:{row_id}"]


def test_a_move_to_an_unknown_context_is_not_found(ada: Caller) -> None:
    row_id = add(ada, context="shop")
    before = dump_project(ada.project)
    with pytest.raises(NotFound) as refusal:
        update_memory(caller=ada, memory_id=row_id, context="shopp")
    assert refusal.value.details["did_you_mean"] == "shop"
    assert dump_project(ada.project) == before


def test_every_write_touches_the_context(ada: Caller) -> None:
    row_id = add(ada, context="shop")
    seen = [get_context(ada.project_id, "shop").updated_at]
    update_memory(caller=ada, memory_id=row_id, title="Other")
    seen.append(get_context(ada.project_id, "shop").updated_at)
    delete_memory(caller=ada, memory_id=row_id)
    seen.append(get_context(ada.project_id, "shop").updated_at)
    assert seen == sorted(set(seen))


# -- Deleting --------------------------------------------------------------------------------------


def test_a_deleted_memory_leaves_no_rows(ada: Caller) -> None:
    row_id = add(ada, context="shop", **ALL_FIELDS)
    assert delete_memory(caller=ada, memory_id=row_id) == {"id": row_id, "result": "deleted"}
    assert (Memory.unscoped.count(), MemoryTag.unscoped.count(), count_in(ada, "shop")) == (0, 0, 0)
    assert search(ada.project_id, TITLE).hits == []
    assert Stats(ada.project_id).of("memory") == 0
    assert last_event(ada.project) == ("memory", "deleted", {"note": "reference in shop"})
    assert str(Agent.objects.in_project(ada.project).get()) == "ada"


def test_events_never_hold_the_text(ada: Caller) -> None:
    row_id = add(ada)
    update_memory(caller=ada, memory_id=row_id, content="llama")
    delete_memory(caller=ada, memory_id=row_id)
    data = str(list(Event.objects.in_project(ada.project).values_list("data", flat=True)))
    assert not [word for word in (TITLE, CONTENT, "llama") if word in data]
