"""Search over memories: hits, excerpts within the token budget, filters."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotFound
from ctxhub.core.text.token_count import count_tokens
from memory.decisions.services import set_decision
from memory.memories.search import search_memories
from memory.memories.services import add_memory

FILLER = "Nothing of this has to do with what is asked, and it goes on and on for quite a while. " * 40
HOOKS = f"# Hooks\n\n{FILLER}\n\nuseEffect runs after React has painted; useLayoutEffect before.\n\n{FILLER}"


@pytest.fixture
def filled(ada: Caller) -> Caller:
    kinds: dict[str, Any] = {"context": "React", "type": "reference", "stack": "react19", "tags": ["hooks"]}
    add_memory(caller=ada, title="React hooks guide", content=HOOKS, **kinds)
    add_memory(caller=ada, title="Paths", content="React renders twice in strict mode.", context="React")
    add_memory(caller=ada, title="Redis", content="Caches the product list.", context="Shop", type="task")
    set_decision(caller=ada, key="ui/react", value="React hooks everywhere.")
    return ada


def found(caller: Caller, query: str, **rest: Any) -> list[str]:
    return [str(row["title"]) for row in search_memories(caller.project_id, query, **rest).objects()]


def test_a_hit_has_an_excerpt_and_its_tokens(filled: Caller) -> None:
    listing = search_memories(filled.project_id, "when does useEffect run?")
    [row] = listing.objects()
    assert list(row) == [
        *("id", "title", "excerpt", "type", "context", "stack", "score", "tokens", "lines", "size", "stale")
    ]
    expected = {"title": "React hooks guide", "type": "reference", "context": "React", "stack": "react19"}
    assert {name: row[name] for name in expected} == expected
    assert "useEffect runs after React has painted" in row["excerpt"]
    assert 0 < row["score"] <= 1
    assert row["tokens"] == count_tokens(row["title"]) + count_tokens(row["excerpt"])
    assert listing.extra["meta"] == {"search_method": "any", "excerpt_strategy": "best_passages"}
    assert [listing.extra[name] for name in ("total", "total_tokens", "avg_tokens")] == [
        *(1, row["tokens"], row["tokens"])
    ]


@pytest.mark.parametrize(("detail", "budget"), [("compact", 60), ("standard", 120), ("DETAILED", 250)])
def test_no_hit_costs_more_than_its_detail_allows(filled: Caller, detail: str, budget: int) -> None:
    rows = search_memories(filled.project_id, "React hooks", detail=detail).objects()
    tokens = [row["tokens"] for row in rows]
    assert len(rows) == 2
    assert budget / 2 < max(tokens) <= budget


def test_only_memories_are_found(filled: Caller) -> None:
    assert found(filled, "React hooks everywhere") == ["React hooks guide", "Paths"]


NARROWED: list[tuple[dict[str, Any], list[str]]] = [
    ({"context": "react"}, ["React hooks guide", "Paths"]),
    ({"context": "shop"}, []),
    ({"type": "Reference"}, ["React hooks guide"]),
    ({"type": 1}, ["Paths"]),
    ({"stack": "REACT19"}, ["React hooks guide"]),
    ({"stack": "react18"}, []),
    ({"tags": ["HOOKS", "none"]}, ["React hooks guide"]),
    ({"tags": ["none"]}, []),
    ({"context": "react", "type": "note", "stack": None, "tags": []}, ["Paths"]),
    ({"limit": 1}, ["React hooks guide"]),
]


@pytest.mark.parametrize(("filters", "expected"), NARROWED, ids=str)
def test_a_search_is_narrowed(filled: Caller, filters: dict[str, Any], expected: list[str]) -> None:
    assert found(filled, "react hooks", **filters) == expected


def test_a_mistyped_word_is_corrected(filled: Caller) -> None:
    listing = search_memories(filled.project_id, "prodct lists")
    assert listing.extra["did_you_mean"] == "product lists"
    assert listing.extra["meta"]["search_method"] == "corrected"
    assert [row["title"] for row in listing.objects()] == ["Redis"]


@pytest.mark.parametrize("query", ["llama", "???", "-react", '"hooks react"'])
def test_an_empty_result_has_the_same_fields(filled: Caller, query: str) -> None:
    listing = search_memories(filled.project_id, query)
    assert listing.rows == []
    assert {name: listing.extra[name] for name in ("total", "total_tokens", "avg_tokens")} == {
        "total": 0,
        "total_tokens": 0,
        "avg_tokens": 0,
    }
    assert set(listing.extra["meta"]) == {"search_method", "excerpt_strategy"}


def test_an_unknown_context_is_not_found(filled: Caller) -> None:
    with pytest.raises(NotFound) as refusal:
        found(filled, "react", context="raect")
    assert refusal.value.details["did_you_mean"] == "React"


WRONG: list[dict[str, Any]] = [
    {"query": ""},
    {"query": "a\x00b"},
    {"detail": "ids"},
    {"detail": "long"},
    {"type": "poem"},
    {"limit": 0},
    {"limit": 201},
    {"tags": ["x"] * 51},
    {"stack": "x" * 101},
]


@pytest.mark.parametrize("arguments", WRONG, ids=str)
def test_invalid_arguments_are_refused(filled: Caller, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        found(filled, **{"query": "react", **arguments})
