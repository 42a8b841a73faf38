"""Search over all kinds: hits, filters, ways to match, and queries that are no words."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from ctxhub.core.accounts.projects import create_project
from ctxhub.core.events.log import latest_cursor
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotFound
from ctxhub.core.models import Project
from ctxhub.core.search.search import search_listing
from memory.constraints.services import add_constraint, deactivate_constraint
from memory.decisions.services import deprecate_decision
from messaging.messages.services import send_message
from tests.searching import decide, find, refs
from tracking.changes.services import record_change

pytestmark = pytest.mark.django_db


NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def apollo(rows_of_module: Callable[[], AbstractContextManager[None]]) -> Project:
    """Rows of every kind about the login in apollo, and a decision in hermes, the same for every test."""
    with rows_of_module():
        apollo, hermes = create_project(slug="apollo"), create_project(slug="hermes")
        ada, ben = (Caller(project=apollo, agent=name) for name in ("ada", "ben"))
        fill(ada, ben, cy=Caller(project=hermes, agent="cy"))
        return apollo


@pytest.fixture
def hermes(apollo: Project) -> Project:
    return Project.objects.get(slug="hermes")


def fill(ada: Caller, ben: Caller, cy: Caller) -> None:
    with time_machine.travel(NOON - timedelta(days=7), tick=False):
        decide(
            ada,
            "auth/sessions",
            "Sessions expire after thirty minutes of silence.",
            rationale="A stolen laptop must not stay signed in.",
            layer="business",
            tags=["security", "api"],
        )
        decide(ada, "auth/cookies", "The login keeps its state in cookies.", tags=["security"])
        deprecate_decision(caller=ada, key="auth/cookies", reason="Phones lose them.")
        decide(ben, "db/engine", "PostgreSQL behind pgbouncer.", layer="data", tags=["database"])
        add_constraint(
            caller=ben,
            category="performance",
            text="The login answers within 200 ms.",
            layer="business",
            tags=["api"],
        )
    with time_machine.travel(NOON - timedelta(hours=1), tick=False):
        send_message(caller=ben, text="The migration of the login table failed on staging.", to=["ada"])
        record_change(
            caller=ada,
            path="src/login.py",
            change="modified",
            layer="data",
            description="Retries the handshake with exponential backoff.",
        )
    decide(cy, "travel/zeppelin", "The login flies by zeppelin.", tags=["airship"])


EVERY_KIND = {"decision:auth/cookies", "constraint:", "message:", "resource:src/login.py", "change:"}


# -- Hits ------------------------------------------------------------------------------------------


def test_one_query_finds_every_kind(ada: Caller) -> None:
    assert set(refs(ada, "login")) == EVERY_KIND


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("When do sessions expire?", "decision:auth/sessions"),
        ("what happens to a stolen laptop", "decision:auth/sessions"),
        ("which database engine do we use", "decision:db/engine"),
        ("how fast must the login answer", "constraint:"),
        ("did the migration fail", "message:"),
        ("exponential backoff", "change:"),
        ("login.py", "resource:src/login.py"),
        ("api security", "decision:auth/sessions"),
        ("why were cookies given up: phones", "decision:auth/cookies"),
    ],
)
def test_the_best_hit_comes_first(ada: Caller, query: str, best: str) -> None:
    found = find(ada, query).hits
    assert found[0].ref.rstrip("0123456789") == best
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    assert all(0 < hit.score <= 1 for hit in found)


def test_an_excerpt_shows_the_matching_sentence(ada: Caller) -> None:
    [hit] = find(ada, "laptop").hits
    assert (hit.ref, hit.title) == ("decision:auth/sessions", "auth/sessions")
    assert "A stolen laptop must not stay signed in." in hit.excerpt


def test_the_title_of_an_inactive_row_says_so(ada: Caller, ben: Caller) -> None:
    [hit] = find(ada, "cookies").hits
    assert hit.title == "auth/cookies (deprecated)"
    constraint = add_constraint(caller=ben, category="security", text="Passwords rotate monthly.")
    deactivate_constraint(caller=ben, constraint_id=constraint["id"], reason="It helps nobody.")
    [hit] = find(ada, "monthly").hits
    assert hit.title == "security (inactive)"


def test_a_changed_decision_is_found_by_new_and_by_earlier_words(ada: Caller) -> None:
    decide(ada, "db/engine", "CockroachDB on three machines.")
    assert [hit.title for hit in find(ada, "cockroachdb").hits] == ["db/engine"]
    assert [hit.title for hit in find(ada, "pgbouncer").hits] == [
        "db/engine (was 1.0.0, now CockroachDB on three machines.)"
    ]


def test_rows_of_another_project_are_not_found(ada: Caller, cy: Caller) -> None:
    assert refs(ada, "zeppelin airship flies") == []
    assert refs(cy, "login") == ["decision:travel/zeppelin"]


# -- Filters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"kinds": ["decision"]}, {"decision:auth/cookies"}),
        ({"kinds": ["decisions"]}, {"decision:auth/cookies"}),
        ({"kinds": ["Message", "constraints"]}, {"message:", "constraint:"}),
        ({"kinds": [], "tags": None}, EVERY_KIND),
        ({"tags": ["security"]}, {"decision:auth/cookies"}),
        ({"tags": ["SECURITY", "api"]}, {"decision:auth/cookies", "constraint:"}),
        ({"tags": ["nothing"]}, set()),
        ({"tags": ["airship"]}, set()),
        ({"layer": "business"}, {"constraint:"}),
        ({"layer": "Data"}, {"change:"}),
        ({"layer": "infrastructure"}, set()),
        ({"by": "ben"}, {"constraint:", "message:"}),
        ({"by": "Ben"}, {"constraint:", "message:"}),
        ({"by": "nobody"}, set()),
        ({"by": "cy"}, set()),
        ({"since": "2h"}, {"message:", "change:", "resource:src/login.py"}),
        ({"since": "2026-11-21T10:30:00Z"}, {"message:", "change:", "resource:src/login.py"}),
        ({"since": "2026-11-21T11:30:00Z"}, set()),
        ({"since": "8d", "by": "ben", "kinds": ["constraint"], "tags": ["api"]}, {"constraint:"}),
        ({"since": "8d", "by": "ben", "kinds": ["constraint"], "layer": "data"}, set()),
    ],
    ids=lambda param: str(sorted(param) if isinstance(param, set) else param),
)
def test_each_filter_narrows(ada: Caller, filters: dict[str, Any], expected: set[str]) -> None:
    with time_machine.travel(NOON, tick=False):
        found = find(ada, "login", **filters)
    assert {hit.ref.rstrip("0123456789") for hit in found.hits} == expected
    assert found.total == {"total": len(expected)}


def test_since_takes_an_event_cursor(ada: Caller) -> None:
    cursor = str(latest_cursor(ada.project_id))
    assert refs(ada, "login", since=cursor) == []
    decide(ada, "auth/login", "The login asks twice.")
    assert refs(ada, "login", since=cursor) == ["decision:auth/login"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"kinds": ["decison"]}, "did you mean decision"),
        ({"kinds": ["tag"]}, "kinds"),
        ({"kinds": [""]}, "kinds"),
        ({"kinds": [f"k{n}" for n in range(51)]}, "51"),
        ({"match": "some"}, "match"),
        ({"detail": "long"}, "detail"),
        ({"tags": [" "]}, "tags"),
        ({"tags": ["x" * 101]}, "tags"),
        ({"layer": "cellar"}, "layer"),
        ({"by": "x" * 201}, "by"),
        ({"since": "yesterday"}, "since"),
        ({"limit": 0}, "limit"),
        ({"limit": 201}, "limit"),
    ],
    ids=str,
)
def test_a_wrong_argument_is_invalid(ada: Caller, arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        find(ada, "login", **arguments)
    body = refused.value.body()
    assert text in f"{body['message']} did you mean {body.get('did_you_mean')}"


def test_an_unknown_context_is_not_found(ada: Caller) -> None:
    with pytest.raises(NotFound, match="context"):
        find(ada, "login", context="cellar")


# -- Matching --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "match", "expected"),
    [
        ("sessions pgbouncer", "auto", {"decision:auth/sessions", "decision:db/engine"}),
        ("sessions pgbouncer", "any", {"decision:auth/sessions", "decision:db/engine"}),
        ("sessions pgbouncer", "OR", {"decision:auth/sessions", "decision:db/engine"}),
        ("sessions pgbouncer", "all", set()),
        ("sessions laptop", "all", {"decision:auth/sessions"}),
        ("sessions laptop", "and", {"decision:auth/sessions"}),
        ("postgresl", "any", set()),
        ("postgresl", "all", set()),
        ("postgresl", "auto", {"decision:db/engine"}),
        ("postgresl", "fuzzy", {"decision:db/engine"}),
        ("pgbouncr sesions", "fuzzy", {"decision:auth/sessions", "decision:db/engine"}),
        ("We want PostgreSQL, and in front of it pgbouncer, for data.", "similar", {"decision:db/engine"}),
        ('"thirty minutes"', "auto", {"decision:auth/sessions"}),
        ('"minutes thirty"', "auto", set()),
        ("sessions -laptop", "auto", set()),
        ("pgbouncer sessions -laptop", "auto", {"decision:db/engine"}),
        ('pgbouncer sessions -"thirty minutes"', "auto", {"decision:db/engine"}),
        ("pgboun*", "auto", {"decision:db/engine"}),
        ("pgboun", "any", {"decision:db/engine"}),
    ],
)
def test_each_match_mode_finds_its_rows(ada: Caller, query: str, match: str, expected: set[str]) -> None:
    assert set(refs(ada, query, match=match)) == expected


@pytest.mark.parametrize(
    ("query", "match", "method"),
    [
        ("sessions", "auto", "any"),
        ("sesions", "auto", "corrected"),
        ("sessions", "any", "any"),
        ("sessions", "all", "all"),
        ("sessions", "fuzzy", "fuzzy"),
        ("sessions", "similar", "similar"),
    ],
)
def test_the_answer_names_its_method(ada: Caller, query: str, match: str, method: str) -> None:
    assert find(ada, query, match=match).method == method


def test_a_mistyped_word_is_corrected_and_reported(ada: Caller) -> None:
    found = find(ada, "When do sesions expire on a laptopp?")
    assert found.hits[0].ref == "decision:auth/sessions"
    assert found.search
    assert found.search.did_you_mean == "When do sessions expire on a laptop?"


@pytest.mark.parametrize("match", ["auto", "any", "fuzzy"])
def test_another_projects_words_are_never_suggested(ada: Caller, match: str) -> None:
    found = find(ada, "zepelin airshipp", match=match)
    assert found.hits == []
    assert found.search
    assert found.search.did_you_mean is None


# -- Hostile text ----------------------------------------------------------------------------------


@pytest.mark.parametrize("match", ["auto", "any", "all", "fuzzy", "similar"])
@pytest.mark.parametrize(
    "query",
    [
        'foo AND "bar',
        "user-service",
        "c++",
        "*",
        "-",
        '"',
        '""',
        '-""',
        "NOT login",
        "login NEAR(cookies, 2)",
        "scope:P1",
        "{words} : login",
        "P1 & login | !x <-> y:*",
        "login'); DROP TABLE core_searchentry; --",
        "\\ ' % _ :* <->",
        "🚀 login 👩‍💻",
        "\u202e\u200b\u0300 login",
        "\x01\x7f login",
        "ไทย 한국어 हिन्दी العربية",
        "the of and",
        "login " * 5_000,
        "x" * 60_000,
        "快" * 20_000,
        f'"{"login " * 5_000}"',
        "login/" * 10_000,
        "-x" + " -y1" * 10_000,
    ],
    ids=lambda value: value[:20],
)
def test_any_query_text_is_treated_as_data(ada: Caller, query: str, match: str) -> None:
    answer = search_listing(find(ada, query, match=match), "compact").answer()
    assert answer["count"] == len(answer["rows"]) <= 10
    assert not [row for row in answer["rows"] if "zeppelin" in str(row)]


@pytest.mark.parametrize("query", ["", "  \n", "log\x00in", "\ud800", "x" * 100_000, "快" * 30_000])
def test_an_invalid_query_is_refused(ada: Caller, query: str) -> None:
    with pytest.raises(InvalidInput, match="query"):
        find(ada, query)
