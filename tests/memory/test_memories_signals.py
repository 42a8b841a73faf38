"""Writes of memories and contexts through the ORM have the same effects as the services."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from ctxhub.core.events.counters import Stats
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project, SearchEntry, Tag, Tally
from memory.contexts.services import update_context
from memory.memories.queries import list_memories
from memory.memories.rows import tokens_of
from memory.memories.services import add_memory
from memory.models import Context, ContextTag, Memory, MemoryTag

pytestmark = pytest.mark.usefixtures("index_is_kept")

TITLE = "Caching the product list"
CONTENT = "Keep it in Redis for five minutes. Without it the page takes two seconds."


def make_context(project: Project, name: str = "shop", **rest: Any) -> Context:
    made: Context = objects(Context).create(project=project, name=name, **rest)
    return made


def objects(model: Any) -> Any:
    return model.objects


def create(project: Project, title: str = TITLE, **rest: Any) -> Memory:
    context = Context.objects.in_project(project).filter(name="shop").first() or make_context(project)
    fields = {"project": project, "context": context, "title": title, "content": CONTENT, **rest}
    made: Memory = objects(Memory).create(**fields)
    return made


@pytest.fixture
def memory(apollo: Project) -> Memory:
    return create(apollo)


def last_event(project: Project) -> tuple[str, str, str | None, dict[str, Any]]:
    event = Event.objects.in_project(project).select_related("agent").order_by("-id")[0]
    return event.verb, event.noun, event.agent.name if event.agent else None, event.data


def count_events(project: Project) -> int:
    return Event.objects.in_project(project).count()


def totals(project: Project) -> tuple[int, int]:
    stats = Stats(project.pk)
    return stats.of("context"), stats.of("memory")


def counts(project: Project) -> dict[str, int]:
    return dict(Context.objects.in_project(project).values_list("name", "memory_count"))


def tag(project: Project, name: str) -> Tag:
    found = Tag.objects.in_project(project).filter(name=name).first()
    return found or Tag.objects.create(project=project, name=name)


def titles(project: Project, **query: Any) -> list[str]:
    return [str(row["title"]) for row in list_memories(project.pk, **query).objects()]


# -- One change, one event -------------------------------------------------------------------------


def test_digest_and_tokens_are_derived_on_create(memory: Memory) -> None:
    memory.refresh_from_db()
    assert (memory.digest, memory.tokens) == ("Keep it in Redis for five minutes.", tokens_of(TITLE, CONTENT))


@pytest.mark.parametrize("fields", [None, ["content", "stack"]])
def test_derived_fields_are_saved_with_the_changed_ones(memory: Memory, fields: list[str] | None) -> None:
    memory.tags.add(tag(memory.project, "x"), through_defaults={"project": memory.project})
    create(memory.project, "Newer")
    memory.content, memory.stack = "Do not. It is slow.", "DJANGO"
    memory.save(update_fields=fields)
    memory.refresh_from_db()
    assert (memory.digest, memory.tokens) == ("Do not.", tokens_of(TITLE, "Do not. It is slow."))
    assert last_event(memory.project)[3] == {"changed": ["content", "stack"]}
    assert titles(memory.project)[0] == TITLE
    assert titles(memory.project, stack="django") == titles(memory.project, tags=["x"]) == [TITLE]


def test_a_move_updates_the_counts_of_both_contexts(memory: Memory) -> None:
    memory.context = make_context(memory.project, "zoo")
    memory.save()
    assert counts(memory.project) == {"shop": 0, "zoo": 1}
    assert last_event(memory.project)[3] == {"changed": ["context"]}


def test_saving_a_stale_context_keeps_the_right_count(memory: Memory) -> None:
    stale = Context.objects.in_project(memory.project).get()
    create(memory.project, "Newer")
    stale.description = "The shop."
    stale.save()
    assert counts(memory.project) == {"shop": 2}
    assert last_event(memory.project)[:2] == ("updated", "context")


@pytest.mark.parametrize("fields", [None, ["name"]])
def test_a_renamed_context_is_found_by_its_new_name(memory: Memory, fields: list[str] | None) -> None:
    context = memory.context
    before = context.updated_at
    context.name = "Store"
    context.save(update_fields=fields)
    context.refresh_from_db()
    assert (context.folded, context.updated_at > before) == ("store", True)
    assert titles(memory.project, context="STORE") == [TITLE]


def test_a_renamed_tag_is_found_by_its_new_name(ada: Caller) -> None:
    add_memory(caller=ada, title=TITLE, content=CONTENT, tags=["old"])
    update_context(caller=ada, context="general", tags=["old"])
    word = tag(ada.project, "old")
    word.name = "new"
    word.save()
    assert titles(ada.project, tags=["new"]) == [TITLE]


def test_deleting_contexts_in_bulk_deletes_their_memories(memory: Memory) -> None:
    create(memory.project, "Other", context=make_context(memory.project, "zoo"))
    Context.objects.in_project(memory.project).delete()
    deleted = Event.objects.in_project(memory.project).filter(verb="deleted")
    assert [(event.noun, event.data["memories"]) for event in deleted] == [("context", 1)] * 2
    assert totals(memory.project) == (0, 0)
    assert not SearchEntry.objects.in_project(memory.project).exists()


def test_deleting_a_project_deletes_everything_in_it(memory: Memory, ada: Caller) -> None:
    add_memory(caller=ada, title="x", content="x", context="new", tags=["x"])
    update_context(caller=ada, context="new", tags=["x"])
    memory.project.delete()
    for model in (Memory, MemoryTag, Context, ContextTag, Event, Tally, Tag, SearchEntry):
        assert not model.unscoped.exists()


def test_a_context_name_is_unique_in_any_case(memory: Memory) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        make_context(memory.project, "SHOP")
    assert totals(memory.project) == (1, 1)
