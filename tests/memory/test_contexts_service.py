"""Contexts through the service functions and queries."""

from typing import Any

import pytest

from ctxhub.core.events.counters import Stats
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict, InvalidInput, NotFound
from ctxhub.core.models import Event, Project, SearchEntry
from ctxhub.core.search.search import search
from memory.contexts.queries import context_item, find_context, get_context, list_contexts
from memory.contexts.services import create_context, delete_context, update_context
from memory.memories.services import add_memory
from memory.models import Context, ContextTag, Memory, MemoryTag
from tests.tables import dump_project

pytestmark = pytest.mark.usefixtures("index_is_kept")

FIELDS: dict[str, Any] = {
    "description": "The shop's backend.",
    "tags": ["api", "shop"],
    "stack": "Django",
    "metadata": {"team": "blue"},
}
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


def item(caller: Caller, context: str | int) -> dict[str, Any]:
    return context_item(get_context(caller.project_id, context))


def names(caller: Caller, **query: Any) -> list[str]:
    return [str(row["name"]) for row in list_contexts(caller.project_id, **query).objects()]


def last_event(project: Project) -> tuple[str, str, dict[str, Any]]:
    event = Event.objects.in_project(project).order_by("-id")[0]
    return event.noun, event.verb, event.data


# -- Creating --------------------------------------------------------------------------------------


def test_a_created_context_stores_all_fields(ada: Caller) -> None:
    created = create_context(caller=ada, name=" Shop ", **FIELDS)
    assert created == {"id": created["id"], "name": "Shop", "result": "created"}
    stored = item(ada, "Shop")
    assert {name: stored[name] for name in FIELDS} == FIELDS
    assert (stored["memories"], stored["agent"], stored["created"]) == (0, "ada", stored["updated"])
    assert last_event(ada.project) == ("context", "created", {"note": "Shop"})
    assert Stats(ada.project_id).of("context") == 1


@pytest.mark.parametrize("name", ["Shop", "SHOP", " shop"])
def test_names_are_unique_whatever_their_case(ada: Caller, name: str) -> None:
    created = create_context(caller=ada, name="Shop")
    with pytest.raises(Conflict, match="There is a context 'Shop' already") as refusal:
        create_context(caller=ada, name=name)
    assert refusal.value.details["current"] == {"id": created["id"], "name": "Shop"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "name must not be blank"),
        ({"name": "12"}, "name must not be all digits"),
        ({"name": "context:12"}, "name must not be all digits"),
        ({"name": "١٢"}, "name must not be all digits"),
        ({"name": "x" * 201}, "name has 201 characters; the limit is 200"),
        ({"name": "a\x00b"}, "name holds a NUL character"),
        ({"name": TOKEN}, "name seems to hold a credential"),
        ({"description": "x" * 65_537}, "description has 65,537 bytes"),
        ({"description": TOKEN}, "description seems to hold a credential"),
        ({"stack": "x" * 101}, "stack has 101 characters; the limit is 100"),
        ({"stack": TOKEN}, "stack seems to hold a credential"),
        ({"tags": ["x"] * 51}, "tags has 51 entries"),
        ({"tags": [TOKEN]}, "tags seems to hold a credential"),
        ({"metadata": {"a": TOKEN}}, "metadata seems to hold a credential"),
        ({"metadata": {"a": "x" * 65_536}}, "metadata has"),
    ],
)
def test_invalid_fields_are_refused(ada: Caller, fields: dict[str, Any], message: str) -> None:
    before = dump_project(ada.project)
    with pytest.raises(InvalidInput, match=message):
        create_context(caller=ada, **{"name": "shop", **fields})
    assert dump_project(ada.project) == before


# -- Finding ---------------------------------------------------------------------------------------


def test_a_context_is_found_by_name_id_and_ref(ada: Caller) -> None:
    row_id = create_context(caller=ada, name="Shop")["id"]
    for identifier in ("shop", " SHOP ", row_id, str(row_id), f"context:{row_id}"):
        assert get_context(ada.project_id, identifier).id == row_id
    for identifier in ("shops", row_id + 1, "0", "00", "9" * 30, "١"):
        assert find_context(ada.project_id, identifier) is None


def test_an_unknown_name_gets_the_nearest_as_did_you_mean(ada: Caller) -> None:
    create_context(caller=ada, name="frontend")
    create_context(caller=ada, name="backend")
    with pytest.raises(NotFound, match="There is no context 'bakcend'") as refusal:
        get_context(ada.project_id, "bakcend")
    assert refusal.value.details["did_you_mean"] == "backend"


def test_another_projects_context_does_not_exist(ada: Caller, cy: Caller) -> None:
    row_id = create_context(caller=ada, name="Shop")["id"]
    for identifier in ("Shop", row_id):
        assert find_context(cy.project_id, identifier) is None
        for service in (update_context, delete_context):
            with pytest.raises(NotFound):
                service(caller=cy, context=identifier)


def test_search_finds_contexts_and_filters_by_context(ada: Caller) -> None:
    create_context(caller=ada, name="Shop", description="Where people buy llamas.", stack="Django")
    add_memory(caller=ada, title="Llamas", content="They eat hay.", context="shop")
    add_memory(caller=ada, title="More of llamas", content="They spit.", context="zoo")
    assert [hit.title for hit in search(ada.project_id, "llamas", kinds=["context"]).hits] == ["Shop"]
    assert {hit.title for hit in search(ada.project_id, "llamas", context="SHOP").hits} == {"Shop", "Llamas"}


# -- Lists -----------------------------------------------------------------------------------------


def test_the_context_written_last_comes_first(ada: Caller) -> None:
    for name in ("a", "b", "c"):
        create_context(caller=ada, name=name)
    add_memory(caller=ada, title="x", content="x", context="a")
    update_context(caller=ada, context="b", description="changed")
    assert names(ada) == ["b", "a", "c"]


def test_a_cursor_continues_after_the_previous_page(ada: Caller) -> None:
    for n in range(5):
        create_context(caller=ada, name=f"c{n}", description="llamas")
    for text in (None, "llama"):
        first = list_contexts(ada.project_id, text=text, limit=2)
        second = list_contexts(ada.project_id, text=text, limit=2, cursor=first.next)
        third = list_contexts(ada.project_id, text=text, limit=2, cursor=second.next)
        found = [row["name"] for page in (first, second, third) for row in page.objects()]
        assert (found, third.next) == (["c4", "c3", "c2", "c1", "c0"], None)
        assert [page.extra for page in (first, second, third)] == [{"total": 5}] * 3


def test_a_list_is_filtered_by_text(ada: Caller) -> None:
    create_context(caller=ada, name="Shop", **FIELDS)
    create_context(caller=ada, name="Zoo")
    for text in ("shop", "backend", "django", '"the shop"', "api shop", "shop -zoo", "sho*"):
        assert names(ada, text=text) == ["Shop"], text
    assert names(ada, text="llama") == []


@pytest.mark.parametrize(
    "query", [{"limit": 0}, {"limit": 201}, {"cursor": "x"}, {"cursor": "WzFd"}, {"text": " "}]
)
def test_invalid_list_arguments_are_refused(ada: Caller, query: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        list_contexts(ada.project_id, **query)


# -- Changing --------------------------------------------------------------------------------------

CHANGES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"name": "Store"}, {"name": "Store"}),
    ({"name": "SHOP"}, {"name": "SHOP"}),
    ({"description": "x"}, {"description": "x"}),
    ({"description": ""}, {"description": ""}),
    ({"description": None}, {"description": ""}),
    ({"stack": "rust"}, {"stack": "rust"}),
    ({"stack": ""}, {"stack": ""}),
    ({"stack": None}, {"stack": ""}),
    ({"tags": ["API", "new"]}, {"tags": ["api", "new"]}),
    ({"tags": []}, {"tags": []}),
    ({"metadata": {"a": 1}}, {"metadata": {"team": "blue", "a": 1}}),
    ({"metadata": {"team": None}}, {"metadata": {}}),
    ({"metadata": None}, {"metadata": {}}),
]


@pytest.mark.parametrize(("fields", "changed"), CHANGES)
def test_an_update_changes_only_the_fields_given(
    ada: Caller, ben: Caller, fields: dict[str, Any], changed: dict[str, Any]
) -> None:
    row_id = create_context(caller=ada, name="Shop", **FIELDS)["id"]
    before = item(ada, row_id)
    assert update_context(caller=ben, context="shop", **fields)["result"] == "updated"
    after = item(ada, row_id)
    assert after == {**before, **changed, "updated": after["updated"]}
    assert last_event(ada.project) == ("context", "updated", {"changed": list(changed)})


@pytest.mark.parametrize(
    "fields", [{}, {"name": "Shop"}, FIELDS, {"tags": ["SHOP", "api"]}, {"metadata": {}}]
)
def test_an_update_with_equal_values_writes_nothing(ada: Caller, fields: dict[str, Any]) -> None:
    create_context(caller=ada, name="Shop", **FIELDS)
    before = dump_project(ada.project)
    assert update_context(caller=ada, context="Shop", **fields)["result"] == "unchanged"
    assert dump_project(ada.project) == before


def test_renaming_to_a_name_in_use_is_refused(ada: Caller) -> None:
    create_context(caller=ada, name="Shop")
    create_context(caller=ada, name="Zoo")
    with pytest.raises(Conflict):
        update_context(caller=ada, context="zoo", name="SHOP")
    assert names(ada) == ["Zoo", "Shop"]


def test_merged_metadata_beyond_the_limit_is_refused(ada: Caller) -> None:
    create_context(caller=ada, name="Shop", metadata={"a": "x" * 40_000})
    with pytest.raises(InvalidInput, match="metadata would have"):
        update_context(caller=ada, context="Shop", metadata={"b": "x" * 40_000})


# -- Deleting --------------------------------------------------------------------------------------


def test_deleting_a_context_deletes_its_memories(ada: Caller) -> None:
    for context in ("shop", "shop", "zoo"):
        add_memory(caller=ada, title="Llamas", content="They eat hay.", context=context, tags=["x"])
    update_context(caller=ada, context="shop", tags=["x"])
    assert item(ada, "shop")["memories"] == 2
    answer = delete_context(caller=ada, context="SHOP")
    assert answer == {"id": answer["id"], "name": "shop", "memories": 2, "result": "deleted"}
    assert [memory.context.name for memory in Memory.objects.in_project(ada.project)] == ["zoo"]
    assert (MemoryTag.unscoped.count(), ContextTag.unscoped.count()) == (1, 0)
    assert Stats(ada.project_id).of("memory") == Stats(ada.project_id).of("context") == 1
    assert SearchEntry.objects.in_project(ada.project).filter(kind="memory").count() == 1


def test_deleting_a_context_records_one_event_with_the_number_of_memories(ada: Caller) -> None:
    for n in range(3):
        add_memory(caller=ada, title=f"{n}", content="x", context="shop")
    before = Event.objects.in_project(ada.project).count()
    delete_context(caller=ada, context="shop")
    assert Event.objects.in_project(ada.project).count() == before + 1
    assert last_event(ada.project) == ("context", "deleted", {"note": "shop, with 3 memories", "memories": 3})


def test_deleting_through_the_orm_records_the_same(ada: Caller) -> None:
    for n in range(3):
        add_memory(caller=ada, title=f"{n}", content="x", context="shop", tags=["x"])
    Context.objects.in_project(ada.project).get().delete()
    assert last_event(ada.project) == ("context", "deleted", {"note": "shop, with 3 memories", "memories": 3})
    assert Stats(ada.project_id).of("memory") == Stats(ada.project_id).of("context") == 0
    assert not SearchEntry.objects.in_project(ada.project).filter(kind="memory").exists()


def test_the_name_of_a_deleted_context_can_be_used_again(ada: Caller) -> None:
    create_context(caller=ada, name="shop")
    delete_context(caller=ada, context="shop")
    assert create_context(caller=ada, name="Shop")["result"] == "created"
