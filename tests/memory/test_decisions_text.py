"""Lists of decisions filtered by text, alone and with every other filter."""

from typing import Any

import pytest
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.listing import COUNTED_TO
from memory.decisions import queries
from memory.decisions.queries import list_decisions
from memory.decisions.services import set_decision, set_decision_batch
from memory.models import Decision
from tests.core.test_query_plans import statements
from tests.properties import SHARED_FIXTURES
from tests.query_plans import explained, sorts_inside


def keys(caller: Caller, **query: Any) -> list[str]:
    return [str(row["key"]) for row in list_decisions(caller.project_id, **query).objects()]


@pytest.fixture
def author(ada: Caller) -> Caller:
    set_decision(
        caller=ada,
        key="api/auth",
        value="Access tokens are a signed JWT.",
        rationale="Stateless: any worker checks them.",
        tags=["security"],
        alternatives=[{"option": "sessions", "why_not": "one more store"}],
        paths=["src/auth/**"],
    )
    set_decision(caller=ada, key="db/pool", value="Keep tokens out of the pool's log.")
    set_decision(caller=ada, key="快取/策略", value="服務效能瓶頸")
    return ada


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("jwt", ["api/auth"]),
        ("tokens", ["db/pool", "api/auth"]),
        ("token", ["db/pool", "api/auth"]),
        ("signed tokens", ["api/auth"]),
        ("signed pool", []),
        ("stateless sessions security", ["api/auth"]),
        ("api/auth", ["api/auth"]),
        ("src auth", ["api/auth"]),
        ('"access tokens"', ["api/auth"]),
        ('"tokens access"', []),
        ("tokens -jwt", ["db/pool"]),
        ("stat*", ["api/auth"]),
        ("效能", ["快取/策略"]),
        ("服務效能瓶頸", ["快取/策略"]),
        ("能效", []),
        ("nowhere", []),
        ("***", []),
        ("-tokens", []),
    ],
)
def test_a_text_finds_decisions_with_all_its_words(author: Caller, text: str, found: list[str]) -> None:
    assert keys(author, text=text) == found
    assert list_decisions(author.project_id, text=text).extra == {"total": len(found)}


def test_an_empty_text_filters_nothing(author: Caller) -> None:
    assert keys(author, text="") == keys(author, text=None) == keys(author)


def test_a_changed_decision_is_found_by_its_new_words(author: Caller) -> None:
    set_decision(caller=author, key="db/pool", value="Twenty connections.")
    assert keys(author, text="log") == []
    assert keys(author, text="connections") == ["db/pool"]


def test_words_are_found_at_any_distance_in_a_long_value(ada: Caller) -> None:
    set_decision(caller=ada, key="long", value="alpha " + "filler words " * 2_000 + "omega")
    set_decision(caller=ada, key="short", value="alpha")
    assert keys(ada, text="alpha omega") == ["long"]
    assert keys(ada, text="alpha") == ["short", "long"]
    assert keys(ada, text="alpha -omega") == ["short"]


def test_the_text_filter_finds_nothing_of_another_project(author: Caller, cy: Caller) -> None:
    assert keys(cy, text="tokens") == []


# -- With other filters ----------------------------------------------------------------------------

FILTERS: list[dict[str, Any]] = [
    {},
    {"status": "draft"},
    {"status": "any"},
    {"layer": "data"},
    {"tags": ["even"]},
    {"tags": ["even", "third"]},
    {"tags": ["even", "third"], "match": "all"},
    {"exclude_tags": ["third"]},
    {"scope": "s/1"},
    {"scope": "s/*", "tags": ["even"]},
    {"by": "ben"},
    {"by": "ben", "layer": "data", "tags": ["even"], "scope": "s/*", "status": "any"},
    {"since": "1h"},
    {"until": "1h"},
]
SORTS: list[dict[str, Any]] = [
    {"sort": sort, "order": order} for sort in ("updated", "key", "version") for order in ("asc", "desc")
]


@pytest.fixture
def filled(ada: Caller, ben: Caller) -> Caller:
    for caller, first in ((ada, 0), (ben, 40)):
        items = [
            {
                "key": f"k/{n:02}",
                "value": "blue green" if n % 3 else "blue",
                "layer": ("data", "business")[n % 2],
                "status": "draft" if n % 9 == 0 else "active",
                "tags": [*(["even"] if n % 2 == 0 else []), *(["third"] if n % 3 == 0 else [])],
                "scopes": [f"s/{n % 4}"],
            }
            for n in range(first, first + 40)
        ]
        set_decision_batch(caller=caller, items=items)
    return ada


@pytest.mark.parametrize("few", [2_000, 10], ids=["few answers", "many answers"])
@pytest.mark.parametrize("query", FILTERS, ids=str)
def test_a_text_combines_with_every_filter_and_order(
    filled: Caller, query: dict[str, Any], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "FEW", few)
    for order in SORTS:
        rows = list_decisions(filled.project_id, limit=200, **query, **order).objects()
        expected = [row["key"] for row in rows if "green" in row["value"]]
        assert pages(filled, text="green blue", **query, **order) == expected


def pages(caller: Caller, **query: Any) -> list[str]:
    """All keys, read in pages of seven. Fails unless the total of each page equals their number."""
    found: list[str] = []
    totals: set[int] = set()
    cursor = None
    while True:
        page = list_decisions(caller.project_id, limit=7, cursor=cursor, **query)
        found += [str(row["key"]) for row in page.objects()]
        totals.add(page.extra["total"])
        cursor = page.next
        if cursor is None:
            assert totals == {len(found)}
            return found


def test_the_total_stops_at_the_counting_limit(ada: Caller) -> None:
    for first in range(0, COUNTED_TO + 50, 50):
        items = [{"key": f"k/{n}", "value": "blue"} for n in range(first, first + 50)]
        set_decision_batch(caller=ada, items=items)
    assert list_decisions(ada.project_id, text="blue").extra == {"total": COUNTED_TO, "more": True}


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL goes by its statistics.")
def test_few_matches_are_read_by_id_and_sorted(filled: Caller) -> None:
    [statement] = statements(filled, {"text": "green"}, {})
    plan = explained(statement)
    assert "memory_decision_by_status" not in plan
    assert "memory_decision_newest" not in plan
    assert sorts_inside(plan)


# -- Bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [" ", "a\x00b", "x" * 70_000, "\ud800"], ids=ascii)
def test_an_invalid_text_is_refused(ada: Caller, text: str) -> None:
    with pytest.raises(InvalidInput):
        keys(ada, text=text)


@pytest.mark.parametrize(
    "text", ['foo AND "bar', "user-service", "c++", "'; --", "a:b", "NEAR(a b)", "^x", "😀", "(", "x" * 5_000]
)
def test_query_syntax_in_a_text_is_plain_data(author: Caller, text: str) -> None:
    assert keys(author, text=text) == []


@settings(SHARED_FIXTURES, max_examples=80)
@given(st.text(min_size=1, max_size=80))
def test_any_text_is_answered_or_refused(author: Caller, text: str) -> None:
    try:
        assert set(keys(author, text=text)) <= {"api/auth", "db/pool", "快取/策略"}
    except InvalidInput:
        assert not text.strip() or "\x00" in text


def test_a_text_of_hundreds_of_words_is_accepted(author: Caller) -> None:
    assert keys(author, text=" ".join(f"word{n}" for n in range(500))) == []
    assert Decision.objects.in_project(author.project).count() == 3
