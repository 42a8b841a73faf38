"""Search over all kinds: hits, filters, ways to match, and the tokens and queries of an answer."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.events.selectors.events import latest_cursor
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotFound
from ctxhub.core.search.selectors.search import DETAILS, Found, answer_search, search, search_listing
from ctxhub.core.toolbox.dispatch import as_text, call
from memory.constraints.services import add_constraint, deactivate_constraint
from memory.decisions.services.decisions import deprecate_decision, set_decision, set_decision_batch
from messaging.services.messages import send_message
from tests.tokens import o200k
from tracking.services.changes import record_change

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
# Unknown words are searched as prefixes, then as typos; an empty answer gets a hint.
MOST_QUERIES, MOST_TO_CORRECT, MOST_TO_EXPLAIN = 7, 9, 20


def find(caller: Caller, query: str, **rest: Any) -> Found:
    return search(caller.project_id, query, **rest)


def refs(caller: Caller, query: str, **rest: Any) -> list[str]:
    """The refs of the hits, best first, without numbers."""
    return [ref.rstrip("0123456789") for ref in found_refs(caller, query, **rest)]


def found_refs(caller: Caller, query: str, **rest: Any) -> list[str]:
    return [hit.ref for hit in find(caller, query, **rest).hits]


def decide(caller: Caller, key: str, value: str, **rest: Any) -> None:
    set_decision(caller=caller, key=key, value=value, **rest)


@pytest.fixture
def library(ada: Caller, ben: Caller, cy: Caller) -> None:
    """Rows of every kind about the login in apollo, and a decision in hermes."""
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


with_library = pytest.mark.usefixtures("library")
EVERY_KIND = {"decision:auth/cookies", "constraint:", "message:", "resource:src/login.py", "change:"}


# -- Hits ------------------------------------------------------------------------------------------


@with_library
def test_one_query_finds_every_kind(ada: Caller) -> None:
    assert set(refs(ada, "login")) == EVERY_KIND


@with_library
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


@with_library
def test_an_excerpt_shows_the_matching_sentence(ada: Caller) -> None:
    [hit] = find(ada, "laptop").hits
    assert (hit.ref, hit.title) == ("decision:auth/sessions", "auth/sessions")
    assert "A stolen laptop must not stay signed in." in hit.excerpt


@with_library
def test_the_title_of_an_inactive_row_says_so(ada: Caller, ben: Caller) -> None:
    [hit] = find(ada, "cookies").hits
    assert hit.title == "auth/cookies (deprecated)"
    constraint = add_constraint(caller=ben, category="security", text="Passwords rotate monthly.")
    deactivate_constraint(caller=ben, constraint_id=constraint["id"], reason="It helps nobody.")
    [hit] = find(ada, "monthly").hits
    assert hit.title == "security (inactive)"


@with_library
def test_a_changed_decision_is_found_by_new_and_by_earlier_words(ada: Caller) -> None:
    decide(ada, "db/engine", "CockroachDB on three machines.")
    assert [hit.title for hit in find(ada, "cockroachdb").hits] == ["db/engine"]
    assert [hit.title for hit in find(ada, "pgbouncer").hits] == ["db/engine (was 1.0.0)"]


@with_library
def test_rows_of_another_project_are_not_found(ada: Caller, cy: Caller) -> None:
    assert refs(ada, "zeppelin airship flies") == []
    assert refs(cy, "login") == ["decision:travel/zeppelin"]


# -- Filters ---------------------------------------------------------------------------------------


@with_library
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


@with_library
def test_since_takes_an_event_cursor(ada: Caller) -> None:
    cursor = str(latest_cursor(ada.project_id))
    assert refs(ada, "login", since=cursor) == []
    decide(ada, "auth/login", "The login asks twice.")
    assert refs(ada, "login", since=cursor) == ["decision:auth/login"]


@with_library
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


@with_library
def test_an_unknown_context_is_not_found(ada: Caller) -> None:
    with pytest.raises(NotFound, match="context"):
        find(ada, "login", context="cellar")


# -- Matching --------------------------------------------------------------------------------------


@with_library
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


@with_library
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


@with_library
def test_a_mistyped_word_is_corrected_and_reported(ada: Caller) -> None:
    found = find(ada, "When do sesions expire on a laptopp?")
    assert found.hits[0].ref == "decision:auth/sessions"
    assert found.search
    assert found.search.did_you_mean == "When do sessions expire on a laptop?"


@with_library
@pytest.mark.parametrize("match", ["auto", "any", "fuzzy"])
def test_another_projects_words_are_never_suggested(ada: Caller, match: str) -> None:
    found = find(ada, "zepelin airshipp", match=match)
    assert found.hits == []
    assert found.search
    assert found.search.did_you_mean is None


# -- Chinese, identifiers --------------------------------------------------------------------------

CHINESE = "快取失效採用寫入時清除，重跑gen-itgc後要檢查日誌。版本為ＡＢＣ１２３。"


@pytest.mark.parametrize(
    "query",
    [
        "快",
        "誌",
        "快取",
        "日誌",
        "清除",
        "快取失效",
        "寫入時清除",
        "重跑gen-itgc後",
        "gen-itgc",
        "ABC123",
        "ａｂｃ123",
        '"檢查日誌"',
    ],
)
def test_chinese_is_found_by_one_two_and_many_characters(ada: Caller, query: str) -> None:
    decide(ada, "cache/policy", CHINESE)
    decide(ada, "other", "資料庫每晚備份。")
    assert refs(ada, query) == ["decision:cache/policy"]
    assert refs(ada, query, match="all") == ["decision:cache/policy"]


def test_a_chinese_question_finds_its_answer_first(ada: Caller) -> None:
    decide(ada, "cache/policy", CHINESE)
    decide(ada, "backup", "資料庫每晚備份，保留三十天的日誌。")
    assert refs(ada, "為什麼快取會失效，什麼時候清除？")[0] == "decision:cache/policy"
    assert refs(ada, "資料庫多久備份一次？")[0] == "decision:backup"


@pytest.mark.parametrize(
    "query",
    [
        "getUserName",
        "user name",
        "get_user_name",
        "getusername",
        "USER NAME",
        "src/users/model.py",
        "v1.2.3",
        "c++",
        "user-service",
    ],
)
def test_identifiers_are_found_as_written_and_by_their_parts(ada: Caller, query: str) -> None:
    decide(ada, "style/names", "Call getUserName of user-service (c++) in src/users/model.py since v1.2.3.")
    decide(ada, "other", "Nothing of that kind.")
    assert refs(ada, query) == ["decision:style/names"]


# -- Hostile text ----------------------------------------------------------------------------------


@with_library
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


@with_library
@pytest.mark.parametrize("query", ["", "  \n", "log\x00in", "\ud800", "x" * 100_000, "快" * 30_000])
def test_an_invalid_query_is_refused(ada: Caller, query: str) -> None:
    with pytest.raises(InvalidInput, match="query"):
        find(ada, query)


# -- Counts and costs ------------------------------------------------------------------------------


def fill(caller: Caller, count: int, value: str = "The pipeline number {n} retries.") -> None:
    for start in range(0, count, 50):
        numbers = range(start, min(start + 50, count))
        items = [{"key": f"team/area/topic-{n}", "value": value.format(n=n)} for n in numbers]
        set_decision_batch(caller=caller, items=items)


@pytest.mark.parametrize(
    ("count", "total"), [(3, {"total": 3}), (260, {"total": 260}), (1_001, {"total": 1_000, "more": True})]
)
def test_the_total_is_exact_up_to_a_thousand(
    ada: Caller, cy: Caller, count: int, total: dict[str, Any]
) -> None:
    fill(ada, count)
    fill(cy, 5)
    found = find(ada, "pipeline", limit=5)
    assert (len(found.hits), found.total) == (min(count, 5), total)
    assert find(ada, "pipeline retries", match="all", limit=1).total == total


LONG = (
    "Access tokens are signed JWTs that live for fifteen minutes; refresh tokens are opaque, stored hashed "
    "and rotated on every use. Services check signature and audience; nobody asks the identity provider "
    "on the path of a request. 快取失效採用寫入時清除，重跑後要檢查日誌。\n"
    "def rotate(token: str) -> str:\n"
    "    return sign(hash_of(token), expires=clock.now() + timedelta(minutes=15))\n"
)


@pytest.mark.parametrize("query", ["rotate tokens", "清除", "identity provider signature audience", "topic"])
def test_title_and_excerpt_keep_the_budget_of_the_level_of_detail(ada: Caller, query: str) -> None:
    fill(ada, 12, LONG.replace("{", "(").replace("}", ")") * 12)
    decide(ada, "platform/identity-provider/" * 6 + "topic/" + "身分驗證" * 5, LONG)
    for detail, tokens in DETAILS.items():
        found = find(ada, query, detail=detail, limit=20)
        assert len(found.hits) == 13
        for hit in found.hits:
            assert o200k(hit.title) + o200k(hit.excerpt) <= tokens, detail
            assert hit.tokens <= (tokens or 2 * o200k(hit.ref)), detail


def test_more_detail_shows_more(ada: Caller) -> None:
    fill(ada, 1, LONG * 12)
    lengths = [o200k(find(ada, "rotate tokens", detail=detail).hits[0].excerpt) for detail in DETAILS]
    assert lengths == sorted(lengths)
    assert lengths[0] == 0 < lengths[1] < lengths[3]


TOPICS = ("api/auth/method", "db/engine", "frontend/state/store", "deploy/rollback", "api/rate-limit")


def add_realistic_decisions(caller: Caller) -> None:
    """Twelve decisions as teams write them, each longer than an excerpt."""
    for n in range(12):
        decide(caller, f"{TOPICS[n % 5]}/{n}", LONG, layer="business", tags=["api", "authentication"])


@pytest.mark.parametrize("query", ["How do access tokens rotate?", "快取失效", "identity provider"])
def test_ten_compact_hits_cost_at_most_820_tokens(ada: Caller, query: str) -> None:
    add_realistic_decisions(ada)
    answer = call(ada, "search", {"query": query})
    assert answer["count"] == 10
    assert o200k(as_text(answer)) <= 820


def test_ids_cost_at_most_20_tokens_a_hit(ada: Caller) -> None:
    add_realistic_decisions(ada)
    answer = call(ada, "search", {"query": "How do access tokens rotate?", "detail": "ids"})
    assert answer["columns"] == ["ref", "score", "tokens"]
    assert o200k(as_text(answer)) <= 20 * answer["count"]


def test_the_answer_sums_up_its_tokens(ada: Caller) -> None:
    add_realistic_decisions(ada)
    answer = call(ada, "search", {"query": "How do access tokens rotate?", "limit": 4})
    tokens = [row[answer["columns"].index("tokens")] for row in answer["rows"]]
    assert (answer["total"], answer["count"], answer["total_tokens"]) == (12, 4, sum(tokens))
    assert answer["avg_tokens"] == round(sum(tokens) / 4)


def test_a_search_without_hits_returns_an_empty_list(ada: Caller) -> None:
    assert call(ada, "search", {"query": "anything"}) == {
        "columns": [],
        "rows": [],
        "count": 0,
        "total": 0,
        "total_tokens": 0,
        "avg_tokens": 0,
        "method": "any",
        "hint": "Nothing is stored in this project yet.",
    }


@pytest.mark.parametrize("budget", [60, 200, 500, 5_000])
def test_a_budget_is_kept_and_omitted_hits_are_counted(ada: Caller, budget: int) -> None:
    add_realistic_decisions(ada)
    answer = call(ada, "search", {"query": "access tokens", "limit": 12, "max_tokens": budget})
    assert o200k(as_text(answer)) <= budget
    assert answer["count"] + answer.get("omitted", 0) == 12


@pytest.mark.parametrize(
    ("arguments", "at_most"),
    [
        ({"query": "pipeline retries"}, MOST_QUERIES),
        (
            {"query": "pipeline retries", "match": "all", "kinds": ["decision"], "since": "1h", "by": "cy"},
            MOST_QUERIES,
        ),
        ({"query": "pipline retris", "limit": 50}, MOST_TO_CORRECT),
        ({"query": "pipeline retries", "match": "fuzzy", "limit": 50}, MOST_QUERIES),
        ({"query": "pipeline number", "match": "similar", "detail": "detailed", "limit": 50}, MOST_QUERIES),
        ({"query": "pipeline", "layer": "data", "tags": ["api"]}, MOST_QUERIES),
    ],
    ids=str,
)
def test_a_search_takes_few_queries(ada: Caller, cy: Caller, arguments: dict[str, Any], at_most: int) -> None:
    fill(Caller(project=ada.project, agent="cy"), 20)
    fill(cy, 250)
    # In the small project all matches are read, so no query has to count them.
    assert queries(ada, arguments) <= queries(cy, arguments) <= at_most


def test_the_hint_of_an_empty_answer_takes_few_queries(ada: Caller, cy: Caller) -> None:
    fill(Caller(project=ada.project, agent="cy"), 20)
    fill(cy, 250)
    counts = []
    for caller in (ada, cy):
        with CaptureQueriesContext(connection) as captured:
            listing = answer_search(caller.project_id, "pipeline", layer="data", tags=["api"])
        assert listing.extra["hint"]
        counts.append(len(captured))
    assert counts[0] == counts[1] <= MOST_TO_EXPLAIN


def queries(caller: Caller, arguments: dict[str, Any]) -> int:
    with CaptureQueriesContext(connection) as captured:
        search(caller.project_id, **arguments)
    return len(captured)
