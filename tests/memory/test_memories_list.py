"""Lists of memories: every filter, every page."""

from collections.abc import Iterator
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotFound
from memory.memories.queries import find_memories, list_memories
from memory.memories.services import add_memory, update_memory


@pytest.fixture
def filled(ada: Caller) -> Caller:
    for n in range(12):
        add_memory(
            caller=ada,
            title=f"m{n}",
            content=f"Sentence {n}. Not shown.",
            context=("even", "odd")[n % 2],
            type=("note", "idea", "task")[n % 3],
            stack=("Django", "rust", None)[n % 3],
            difficulty=("easy", None)[n % 2],
            tags=["all", f"t{n % 4}"],
        )
    return ada


def titles(caller: Caller, **query: Any) -> list[str]:
    return [str(row["title"]) for row in list_memories(caller.project_id, **query).objects()]


def numbered(*numbers: int) -> list[str]:
    return [f"m{n}" for n in numbers]


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, numbered(*range(11, -1, -1))),
    ({"context": "EVEN"}, numbered(10, 8, 6, 4, 2, 0)),
    ({"type": "idea"}, numbered(10, 7, 4, 1)),
    ({"type": "3"}, []),
    ({"type": 5}, numbered(11, 8, 5, 2)),
    ({"stack": "DJANGO"}, numbered(9, 6, 3, 0)),
    ({"stack": "none"}, []),
    ({"difficulty": "Easy"}, numbered(10, 8, 6, 4, 2, 0)),
    ({"difficulty": "hard"}, []),
    ({"tags": ["T1"]}, numbered(9, 5, 1)),
    ({"tags": ["t1", "t2", "none"]}, numbered(10, 9, 6, 5, 2, 1)),
    ({"tags": ["none"]}, []),
    ({"context": "odd", "type": "idea"}, numbered(7, 1)),
    ({"context": "odd", "stack": "rust", "type": "idea", "tags": ["t1"]}, numbered(1)),
    ({"tags": ["all"], "difficulty": "easy", "stack": "rust"}, numbered(10, 4)),
    (
        {"context": None, "type": "", "stack": "", "difficulty": None, "tags": None},
        numbered(*range(11, -1, -1)),
    ),
]


@pytest.mark.parametrize(("query", "expected"), FILTERS, ids=str)
def test_a_list_applies_every_filter_newest_first(
    filled: Caller, query: dict[str, Any], expected: list[str]
) -> None:
    assert titles(filled, **query) == expected
    assert list_memories(filled.project_id, **query).extra == {"total": len(expected)}


@pytest.mark.parametrize("query", [query for query, _ in FILTERS], ids=str)
def test_every_page_continues_where_the_last_one_ended(filled: Caller, query: dict[str, Any]) -> None:
    paged = [title for page in pages(filled, **query) for title in page]
    assert paged == titles(filled, **query)


def pages(caller: Caller, **query: Any) -> Iterator[list[str]]:
    cursor = None
    while True:
        listing = list_memories(caller.project_id, limit=3, cursor=cursor, **query)
        yield [str(row["title"]) for row in listing.objects()]
        cursor = listing.next
        if cursor is None:
            return


def test_a_row_has_the_short_fields(filled: Caller) -> None:
    row = list_memories(filled.project_id, limit=1).objects()[0]
    expected = {"title": "m11", "digest": "Sentence 11.", "type": "task", "context": "odd", "stack": ""}
    assert {name: row[name] for name in expected} == expected
    names = ["id", "title", "digest", "type", "context", "stack", "tags", "tokens", "updated", "stale"]
    assert list(row) == names
    assert row["tags"] == ["all", "t3"]


def test_a_changed_memory_comes_first_in_every_list(filled: Caller) -> None:
    first = find_memories(filled.project_id, limit=200).rows[-1]
    update_memory(caller=filled, memory_id=first.id, content="Changed.")
    for query in ({}, {"context": "even"}, {"type": "note"}, {"tags": ["all"]}, {"stack": "django"}):
        assert titles(filled, **query)[0] == "m0"


def test_a_long_title_is_cut(ada: Caller) -> None:
    add_memory(caller=ada, title="x" * 500, content="x")
    assert titles(ada) == [f"{'x' * 200}…"]


def test_a_page_cut_by_max_tokens_has_a_cursor(filled: Caller) -> None:
    listing = list_memories(filled.project_id)
    answer = listing.answer(max_tokens=200)
    assert 0 < answer["count"] < 12 == answer["count"] + answer["omitted"]
    rest = list_memories(filled.project_id, cursor=answer["next"]).rows
    assert [row[0] for row in [*answer["rows"], *rest]] == [row[0] for row in listing.rows]


def test_an_unknown_context_is_not_found(filled: Caller) -> None:
    with pytest.raises(NotFound) as refusal:
        list_memories(filled.project_id, context="evne")
    assert refusal.value.details["did_you_mean"] == "even"


WRONG: list[dict[str, Any]] = [
    {"type": "poem"},
    {"difficulty": "extreme"},
    {"stack": "x" * 101},
    {"tags": ["x"] * 51},
    {"context": "x" * 201},
    {"limit": 0},
    {"limit": 201},
    {"cursor": "x"},
    {"cursor": "WyJ4IiwxXQ"},
]


@pytest.mark.parametrize("query", WRONG, ids=str)
def test_invalid_arguments_are_refused(filled: Caller, query: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        list_memories(filled.project_id, **query)
