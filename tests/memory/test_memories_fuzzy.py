"""Fuzzy search over memories: expected distances and scores."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotFound
from memory.memories.fuzzy import asked_words, find_fuzzy, nearest, own_words
from memory.memories.services import add_memory


@pytest.fixture
def filled(ada: Caller) -> Caller:
    add_memory(caller=ada, title="Kubernetes", content="Deploy with care.", context="ops", tags=["rollout"])
    add_memory(caller=ada, title="Postgres", content="Vacuum the tables.", context="db", type="task")
    add_memory(
        caller=ada, title="Long", content=f"{'Nothing here. ' * 2_000}Finally a zeppelin.", context="db"
    )
    return ada


def found(caller: Caller, query: str, **rest: Any) -> list[tuple[Any, ...]]:
    """Title, distance and score of each row."""
    rows = find_fuzzy(caller.project_id, query, **rest).objects()
    return [(row["title"], row["distance"], row["score"]) for row in rows]


GOLDEN: list[tuple[str, int, list[tuple[Any, ...]]]] = [
    ("kubernetes", 0, [("Kubernetes", 0, 1.0)]),
    ("Kubernetes", 2, [("Kubernetes", 0, 1.0)]),
    ("kubernets", 0, []),
    ("kubernets", 1, [("Kubernetes", 1, 0.89)]),
    ("kuberentes", 1, [("Kubernetes", 1, 0.9)]),
    ("kubrnets", 1, []),
    ("kubrnets", 2, [("Kubernetes", 2, 0.75)]),
    ("kbrnts", 3, []),
    ("kbrnts", 4, [("Kubernetes", 4, 0.33)]),
    ("roolout", 2, [("Kubernetes", 1, 0.86)]),
    ("vacum tabels", 2, [("Postgres", 2, 0.82)]),
    ("kubernets llama", 2, [("Kubernetes", 1, 0.46)]),
    ("kubernets llama camels", 2, []),
    ("zepelin", 2, [("Long", 1, 0.86)]),
    ("what is the kubernets", 2, [("Kubernetes", 1, 0.89)]),
]


@pytest.mark.parametrize(("query", "tolerance", "expected"), GOLDEN, ids=str)
def test_distance_and_score(
    filled: Caller, query: str, tolerance: int, expected: list[tuple[Any, ...]]
) -> None:
    assert found(filled, query, tolerance=tolerance) == expected


def test_the_nearest_come_first_the_newest_among_equals(ada: Caller) -> None:
    for title in ("crane", "train", "brain", "brains"):
        add_memory(caller=ada, title=title, content="x")
    assert [row[0] for row in found(ada, "brain")] == ["brain", "brains", "train"]
    assert [row[0] for row in found(ada, "brain", limit=1)] == ["brain"]
    assert [row[0] for row in found(ada, "drain")] == ["brain", "train", "brains"]


def test_the_excerpt_shows_the_match(filled: Caller) -> None:
    [row] = find_fuzzy(filled.project_id, "zepelin").objects()
    assert list(row) == ["id", "title", "excerpt", "distance", "score"]
    assert "zeppelin" in row["excerpt"]


def test_context_and_type_narrow_the_search(filled: Caller) -> None:
    assert found(filled, "postgers", context="DB", type="task") == [("Postgres", 1, 0.88)]
    assert found(filled, "postgers", context="ops") == found(filled, "postgers", type="note") == []
    with pytest.raises(NotFound):
        found(filled, "postgers", context="none")


def test_scripts_without_spaces_are_matched_by_pairs_of_characters(ada: Caller) -> None:
    add_memory(caller=ada, title="快取效能", content="提升了系統。")
    assert found(ada, "快取效能") == [("快取效能", 0, 1.0)]
    assert found(ada, "快") == [("快取效能", 0, 1.0)]
    assert found(ada, "資料") == []


@pytest.mark.parametrize("query", ["!!!", "😀", '"', "qq", "-x", "*"])
def test_a_query_without_words_finds_nothing(filled: Caller, query: str) -> None:
    assert found(filled, query, tolerance=10) == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": ""},
        {"query": " "},
        {"tolerance": -1},
        {"tolerance": 11},
        {"limit": 0},
        {"limit": 201},
        {"type": "poem"},
        {"context": ""} | {"query": "x" * 65_537},
    ],
    ids=lambda arguments: str(arguments)[:30],
)
def test_invalid_arguments_are_refused(filled: Caller, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        found(filled, **{"query": "kubernetes", **arguments})


# -- Words -----------------------------------------------------------------------------------------


def test_the_tolerance_keeps_at_least_one_letter_of_a_word() -> None:
    assert asked_words("a the cat 快取", 10) == {"cat": 2, "快取": 0}
    assert asked_words("the and", 1) == {"the": 1, "and": 1}


def test_each_query_word_is_matched_with_the_nearest_word_of_the_text() -> None:
    assert nearest({"cat": 2, "dog": 1, "owl": 0}, own_words("Cut the CART, dogs; owls.")) == {
        "cat": ("cart", 1),
        "dog": ("dogs", 1),
    }
