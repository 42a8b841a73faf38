"""Revisions of a memory: every title and content that it had can be read, restored and found."""

import random
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotFound
from ctxhub.core.models import Event, Project, SearchEntry, Tag
from ctxhub.core.search.search import search
from memory.capture.services import capture
from memory.contexts.services import create_context, delete_context
from memory.memories import revisions
from memory.memories.queries import get_memory
from memory.memories.revisions import KEPT, list_revisions, revision_item
from memory.memories.rows import digest_of, tokens_of
from memory.memories.search import search_memories
from memory.memories.services import add_memory, delete_memory, restore_memory, update_memory
from memory.models import Memory, MemoryRevision
from tests.search_index import index_is_right

pytestmark = pytest.mark.usefixtures("index_is_kept")

REDIS, VALKEY = "Keep it in Redis.\nFor an hour.", "Keep it in Valkey.\nFor an hour."


def add(caller: Caller, title: str = "Cache", content: str = REDIS, **rest: Any) -> int:
    return add_memory(caller=caller, title=title, content=content, **rest)["id"]


def update(caller: Caller, memory: int, **fields: Any) -> None:
    update_memory(caller=caller, memory_id=memory, **fields)


def reworded(ada: Caller, ben: Caller, **rest: Any) -> int:
    """A memory of ada's whose content ben has changed."""
    memory = add(ada, **rest)
    update(ben, memory, content=VALKEY)
    return memory


def restore(caller: Caller, memory: int, revision: int) -> Any:
    return restore_memory(caller=caller, memory_id=memory, revision=revision)


def listed(caller: Caller, memory: int, **query: Any) -> list[dict[str, Any]]:
    return list_revisions(caller.project_id, memory, **query).objects()


def text_at(caller: Caller, memory: int, revision: int) -> tuple[str, str]:
    item = revision_item(caller.project_id, memory, revision)
    return item["title"], item["content"]


def rows_of(memory: int) -> list[MemoryRevision]:
    return [*MemoryRevision.unscoped.filter(memory=memory).order_by("number")]


def found(caller: Caller, query: str, **filters: Any) -> list[tuple[str, str]]:
    return [(hit.ref, hit.title) for hit in search(caller.project_id, query, **filters).hits]


FORMER = "Cache (was revision 1, now revision 2)"


def count_entries(project: Project) -> int:
    return SearchEntry.objects.in_project(project).filter(kind="memory_revision").count()


# -- Reading ---------------------------------------------------------------------------------------


def test_a_memory_that_was_never_reworded_has_one_revision_and_stores_none(ada: Caller) -> None:
    memory = add(ada)
    update(ada, memory, tags=["x"], stack="django")
    [row] = listed(ada, memory)
    assert (row["revision"], row["title"], row["agent"]) == (1, "Cache", "ada")
    assert text_at(ada, memory, 1) == ("Cache", REDIS)
    assert rows_of(memory) == []


def test_every_revision_is_listed_with_its_agent_and_tokens(ada: Caller, ben: Caller) -> None:
    memory = reworded(ada, ben)
    update(ada, memory, title="Caching")
    shown = [(row["revision"], row["title"], row["agent"], row["tokens"]) for row in listed(ada, memory)]
    assert shown == [
        (3, "Caching", "ada", tokens_of("Caching", VALKEY)),
        (2, "Cache", "ben", tokens_of("Cache", VALKEY)),
        (1, "Cache", "ada", tokens_of("Cache", REDIS)),
    ]


def test_a_revision_is_read_as_it_was(ada: Caller, ben: Caller) -> None:
    memory = reworded(ada, ben)
    update(ada, memory, title="Caching", content="Not at all.")
    texts = [text_at(ada, memory, n) for n in (1, 2, 3)]
    assert texts == [("Cache", REDIS), ("Cache", VALKEY), ("Caching", "Not at all.")]


def test_a_change_of_other_fields_makes_no_revision(ada: Caller) -> None:
    memory = add(ada)
    update(ada, memory, content="Two.")
    update(ada, memory, tags=["a"], context=create_context(caller=ada, name="other")["name"])
    update(ada, memory, content="Two.", type="idea")
    assert [row["revision"] for row in listed(ada, memory)] == [2, 1]


def test_each_text_is_stored_once(ada: Caller) -> None:
    memory = add(ada, content="one")
    for content in ("two", "three"):
        update(ada, memory, content=content)
    assert [row.content for row in rows_of(memory)] == ["one", "two", None]


def test_random_changes_can_all_be_read(ada: Caller) -> None:
    rng = random.Random(7)
    memory = add(ada, "記憶", "效能")
    texts = [("記憶", "效能")]
    for n in range(40):
        match rng.choice(["title", "content", "both", "restore", "tags"]):
            case "restore":
                restore(ada, memory, rng.randrange(len(texts)) + 1)
            case "tags":
                update(ada, memory, tags=[f"t{n}"])
            case "title":
                update(ada, memory, title=f"🙂 {n}")
            case "content":
                update(ada, memory, content=f"line {n % 5}")
            case "both":
                update(ada, memory, title=f"title {n % 3}", content=f"text {n}")
        row = get_memory(ada.project_id, memory)
        if row.revision > len(texts):
            texts.append((row.title, row.content))
    assert [text_at(ada, memory, n + 1) for n in range(len(texts))] == texts
    index_is_right(ada.project)


def test_pages_continue_without_a_gap_or_a_duplicate(ada: Caller) -> None:
    memory = add(ada, content="0")
    for n in range(1, 7):
        update(ada, memory, content=str(n))
    first = list_revisions(ada.project_id, memory, limit=3)
    second = list_revisions(ada.project_id, memory, limit=3, cursor=first.next)
    third = list_revisions(ada.project_id, memory, limit=3, cursor=second.next)
    assert [row[0] for page in (first, second, third) for row in page.rows] == [7, 6, 5, 4, 3, 2, 1]
    assert third.next is None


def test_a_page_ends_at_the_first_revision(ada: Caller) -> None:
    page = list_revisions(ada.project_id, add(ada), limit=1)
    assert (len(page.rows), page.next) == (1, None)


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 201}, {"cursor": "x"}])
def test_invalid_page_arguments_are_refused(ada: Caller, query: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        listed(ada, add(ada), **query)


@pytest.mark.parametrize("revision", [0, -1, 3, 2**31, 2**63, 10**40])
def test_an_unknown_revision_is_not_found(ada: Caller, ben: Caller, revision: int) -> None:
    memory = reworded(ada, ben)
    with pytest.raises(NotFound, match="has no revision"):
        revision_item(ada.project_id, memory, revision)
    with pytest.raises(NotFound, match="has no revision"):
        restore(ada, memory, revision)


@pytest.mark.parametrize("memory", [0, 999_999, 2**63])
def test_an_unknown_memory_has_no_revisions(ada: Caller, memory: int) -> None:
    for read in (
        lambda: listed(ada, memory),
        lambda: text_at(ada, memory, 1),
        lambda: restore(ada, memory, 1),
    ):
        with pytest.raises(NotFound, match="There is no memory"):
            read()


def test_another_project_sees_no_revisions(ada: Caller, ben: Caller, cy: Caller) -> None:
    memory = reworded(ada, ben)
    for read in (lambda: listed(cy, memory), lambda: text_at(cy, memory, 1), lambda: restore(cy, memory, 1)):
        with pytest.raises(NotFound):
            read()
    assert found(cy, "redis") == []


# -- Restoring -------------------------------------------------------------------------------------


def test_a_restore_brings_title_and_content_back_and_can_be_undone(ada: Caller, ben: Caller) -> None:
    memory = reworded(ada, ben)
    update(ada, memory, title="Caching")
    answer = restore(ben, memory, 1)
    assert answer == {
        "id": memory,
        "result": "updated",
        "digest": digest_of("Cache", REDIS),
        "tokens": tokens_of("Cache", REDIS),
        "revision": 4,
    }
    assert text_at(ada, memory, 4) == ("Cache", REDIS)
    restore(ada, memory, 3)
    assert text_at(ada, memory, 5) == ("Caching", VALKEY)


def test_a_restore_leaves_the_other_fields(ada: Caller, ben: Caller) -> None:
    memory = reworded(ada, ben, tags=["a"])
    update(ada, memory, tags=["b"], type="idea", stack="django")
    restore(ada, memory, 1)
    row = get_memory(ada.project_id, memory)
    assert (list(row.tags), row.type_label, row.stack, row.agent) == (["b"], "idea", "django", "ada")


def test_a_restore_is_one_event_that_names_the_revision(ada: Caller, ben: Caller) -> None:
    memory = reworded(ada, ben)
    restore(ben, memory, 1)
    event = Event.objects.in_project(ada.project).latest("pk")
    assert (event.verb, event.ref, event.agent and event.agent.name) == (
        "restored",
        f"memory:{memory}",
        "ben",
    )
    assert event.data == {"changed": ["content"], "revision": 1}


@pytest.mark.parametrize("changes", [0, 1])
def test_restoring_the_current_state_changes_nothing(ada: Caller, changes: int) -> None:
    memory = add(ada)
    for _ in range(changes):
        update(ada, memory, content="Two.")
    events = Event.objects.in_project(ada.project).count()
    answer = restore(ada, memory, changes + 1)
    assert (answer["result"], answer["revision"]) == ("unchanged", changes + 1)
    assert Event.objects.in_project(ada.project).count() == events


def test_a_revision_with_a_credential_can_be_restored(ada: Caller) -> None:
    memory = add(ada)
    row = Memory.unscoped.get(pk=memory)
    row.content = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    row.save()
    update(ada, memory, content="None.")
    assert restore(ada, memory, 2)["result"] == "updated"


# -- Keeping ---------------------------------------------------------------------------------------


def test_only_the_newest_states_are_kept(ada: Caller, apollo: Project) -> None:
    memory = add(ada, content="word1")
    for n in range(2, KEPT + 5):
        update(ada, memory, content=f"word{n}")
    numbers = [row.number for row in rows_of(memory)]
    assert numbers == list(range(4, KEPT + 5))
    assert count_entries(apollo) == KEPT == len(numbers) - 1
    assert text_at(ada, memory, 4) == ("Cache", "word4")
    with pytest.raises(NotFound):
        text_at(ada, memory, 3)


def test_pruned_revisions_are_not_found(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revisions, "KEPT", 2)
    memory = add(ada, content="alpha")
    for word in ("beta", "gamma", "delta"):
        update(ada, memory, content=word)
    assert found(ada, "alpha") == []
    assert found(ada, "beta") == [(f"memory:{memory}", "Cache (was revision 2, now revision 4)")]
    index_is_right(ada.project)


@pytest.mark.parametrize("way", ["memory", "context", "orm", "orm of the context"])
def test_revisions_are_deleted_with_their_memory(ada: Caller, apollo: Project, way: str) -> None:
    gone, kept = add(ada, context="gone"), add(ada, context="kept")
    for memory in (gone, kept):
        update(ada, memory, content=VALKEY)
    row = Memory.unscoped.get(pk=gone)
    match way:
        case "memory":
            delete_memory(caller=ada, memory_id=gone)
        case "context":
            delete_context(caller=ada, context="gone")
        case "orm":
            row.delete()
        case _:
            row.context.delete()
    assert {row.memory_id for row in MemoryRevision.unscoped.all()} == {kept}
    assert count_entries(apollo) == 1
    index_is_right(apollo)


def test_revisions_are_deleted_with_their_project(ada: Caller, ben: Caller, apollo: Project) -> None:
    reworded(ada, ben)
    apollo.delete()
    assert not MemoryRevision.unscoped.exists()
    assert not SearchEntry.unscoped.exists()


# -- Saving through the ORM ------------------------------------------------------------------------


@pytest.mark.parametrize("fields", [None, ["title"]])
def test_a_save_by_the_orm_keeps_the_former_state(ada: Caller, fields: list[str] | None) -> None:
    memory = add(ada)
    row = Memory.unscoped.get(pk=memory)
    row.title = "Caching"
    row.save(update_fields=fields)
    assert row.revision == get_memory(ada.project_id, memory).revision == 2
    assert [text_at(ada, memory, n) for n in (1, 2)] == [("Cache", REDIS), ("Caching", REDIS)]
    assert [each["agent"] for each in listed(ada, memory)] == ["system", "ada"]


def test_saving_a_stale_memory_keeps_its_revision(ada: Caller, ben: Caller) -> None:
    memory = add(ada)
    stale = Memory.unscoped.get(pk=memory)
    update(ben, memory, content=VALKEY)
    restore(ben, memory, 1)
    stale.save()
    assert Memory.unscoped.get(pk=memory).revision == 3
    update(ada, memory, content="More.")
    assert text_at(ada, memory, 3) == ("Cache", REDIS)


# -- Searching -------------------------------------------------------------------------------------


def test_a_former_text_is_found_with_its_revision(ada: Caller, ben: Caller) -> None:
    memory = reworded(ada, ben)
    [hit] = search(ada.project_id, "redis").hits
    assert (hit.ref, hit.title) == (f"memory:{memory}", FORMER)
    assert hit.excerpt == "Keep it in Redis."
    assert found(ada, "valkey hour") == [(f"memory:{memory}", "Cache")]


def test_a_former_title_is_found(ada: Caller) -> None:
    memory = add(ada, "Rabbits", "A queue.")
    update(ada, memory, title="Messages")
    assert found(ada, "rabbits") == [(f"memory:{memory}", "Rabbits (was revision 1, now revision 2)")]
    assert found(ada, "messages queue") == [(f"memory:{memory}", "Messages")]


def test_an_addition_stores_no_former_text_to_find(ada: Caller, apollo: Project) -> None:
    memory = add(ada)
    update(ada, memory, content=f"{REDIS}\nAnd more.")
    assert count_entries(apollo) == 0
    index_is_right(apollo)


def test_the_search_of_memories_finds_a_former_text(ada: Caller, ben: Caller) -> None:
    add(ada, "Other", "Redis is a server.")
    memory = reworded(ada, ben)
    rows = search_memories(ada.project_id, "redis").objects()
    assert [(row["id"], row["title"]) for row in rows][1:] == [(memory, FORMER)]


BEFORE: dict[str, Any] = {"context": "old", "type": "note", "stack": "django", "tags": ["a"]}
AFTER: dict[str, Any] = {"context": "new", "type": "idea", "stack": "rust", "tags": ["b"]}


@pytest.mark.parametrize("name", [*BEFORE])
def test_the_filters_that_find_a_memory_find_its_former_text(ada: Caller, ben: Caller, name: str) -> None:
    create_context(caller=ada, name="new")
    memory = reworded(ada, ben, **BEFORE)
    update(ada, memory, **{name: AFTER[name]})

    def ids(value: Any) -> list[Any]:
        return [row[0] for row in search_memories(ada.project_id, "redis", **{name: value}).rows]

    assert (ids(AFTER[name]), ids(BEFORE[name])) == ([memory], [])
    index_is_right(ada.project)


def test_a_renamed_tag_finds_a_former_text(ada: Caller, ben: Caller) -> None:
    memory = reworded(ada, ben, tags=["old"])
    tag = Tag.objects.in_project(ada.project).get(name="old")
    tag.name = "fresh"
    tag.save()
    assert found(ada, "redis", tags=["fresh"]) == [(f"memory:{memory}", FORMER)]
    index_is_right(ada.project)


def test_tags_changed_by_the_orm_find_a_former_text(ada: Caller, ben: Caller) -> None:
    memory = reworded(ada, ben, tags=["old"])
    Memory.unscoped.get(pk=memory).tags.clear()
    assert found(ada, "redis", tags=["old"]) == []
    index_is_right(ada.project)


def test_a_former_text_is_no_duplicate(ada: Caller, ben: Caller) -> None:
    text = (
        "We decided to keep sessions in PostgreSQL 16: `sessions/store.py` needs one transaction, "
        "since two writers lost rows in October."
    )
    memory = add(ada, content=text)
    assert capture(caller=ben, content=text, dry_run=True).get("duplicate_of") == f"memory:{memory}"
    update(ada, memory, content="It is in Redis.")
    assert "duplicate_of" not in capture(caller=ben, content=text, dry_run=True)
