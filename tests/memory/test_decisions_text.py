"""Lists of decisions narrowed by words: all of them are there, whatever else is asked for."""

from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.listing import COUNTED_TO
from memory.decisions import lists
from memory.decisions.lists import list_decisions
from memory.decisions.services.decisions import set_decision, set_decision_batch
from memory.models import Decision
from tests.core.test_query_plans import statements
from tests.query_plans import explained, sorts_inside


def keys(caller: Caller, **query: Any) -> list[str]:
    return [str(row["key"]) for row in list_decisions(caller.project_id, **query).objects()]


@pytest.fixture
def decided(ada: Caller) -> Caller:
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
def test_all_the_words_have_to_be_there(decided: Caller, text: str, found: list[str]) -> None:
    assert keys(decided, text=text) == found
    assert list_decisions(decided.project_id, text=text).extra == {"total": len(found)}


def test_a_text_that_is_not_said_narrows_nothing(decided: Caller) -> None:
    assert keys(decided, text="") == keys(decided, text=None) == keys(decided)


def test_what_has_changed_is_found_by_its_new_words(decided: Caller) -> None:
    set_decision(caller=decided, key="db/pool", value="Twenty connections.")
    assert keys(decided, text="log") == []
    assert keys(decided, text="connections") == ["db/pool"]


def test_the_words_of_a_long_decision_may_be_far_apart(ada: Caller) -> None:
    set_decision(caller=ada, key="long", value="alpha " + "filler words " * 2_000 + "omega")
    set_decision(caller=ada, key="short", value="alpha")
    assert keys(ada, text="alpha omega") == ["long"]
    assert keys(ada, text="alpha") == ["short", "long"]
    assert keys(ada, text="alpha -omega") == ["short"]


def test_another_projects_words_find_nothing(decided: Caller, cy: Caller) -> None:
    assert keys(cy, text="tokens") == []


# -- Beside every other filter ---------------------------------------------------------------------

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
def many(ada: Caller, ben: Caller) -> Caller:
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
def test_a_text_narrows_whatever_is_listed(
    many: Caller, query: dict[str, Any], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "FEW", few)
    for order in SORTS:
        every = list_decisions(many.project_id, limit=200, **query, **order).objects()
        expected = [row["key"] for row in every if "green" in row["value"]]
        assert pages(many, text="green blue", **query, **order) == expected


def pages(caller: Caller, **query: Any) -> list[str]:
    """All keys, seven a page; each page says how many there are."""
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


def test_the_total_stops_where_every_total_does(ada: Caller) -> None:
    for first in range(0, COUNTED_TO + 50, 50):
        items = [{"key": f"k/{n}", "value": "blue"} for n in range(first, first + 50)]
        set_decision_batch(caller=ada, items=items)
    assert list_decisions(ada.project_id, text="blue").extra == {"total": COUNTED_TO, "more": True}


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL goes by its statistics.")
def test_few_answers_are_looked_at_one_by_one(many: Caller) -> None:
    [statement] = statements(many, {"text": "green"}, {})
    plan = explained(statement)
    assert "memory_decision_by_status" not in plan
    assert "memory_decision_newest" not in plan
    assert sorts_inside(plan)


# -- Bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [" ", "a\x00b", "x" * 70_000, "\ud800"], ids=ascii)
def test_what_cannot_be_looked_for_is_refused(ada: Caller, text: str) -> None:
    with pytest.raises(InvalidInput):
        keys(ada, text=text)


@pytest.mark.parametrize(
    "text", ['foo AND "bar', "user-service", "c++", "'; --", "a:b", "NEAR(a b)", "^x", "😀", "(", "x" * 5_000]
)
def test_what_is_typed_is_data(decided: Caller, text: str) -> None:
    assert keys(decided, text=text) == []


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(min_size=1, max_size=80))
def test_any_text_gets_an_answer(decided: Caller, text: str) -> None:
    try:
        assert set(keys(decided, text=text)) <= {"api/auth", "db/pool", "快取/策略"}
    except InvalidInput:
        assert not text.strip() or "\x00" in text


def test_hundreds_of_words_are_no_trouble(decided: Caller) -> None:
    assert keys(decided, text=" ".join(f"word{n}" for n in range(500))) == []
    assert Decision.objects.in_project(decided.project).count() == 3
