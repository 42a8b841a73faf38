"""Search for Chinese and identifiers, and the tokens and queries of an answer."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.search.search import DETAILS, answer_search, search
from ctxhub.toolbox.dispatch import as_text, call
from memory.decisions.services import set_decision_batch
from tests.searching import decide, find, refs
from tests.tokens import o200k

# Unknown words are searched as prefixes, then as typos; an empty answer gets a hint.
MOST_QUERIES, MOST_TO_CORRECT, MOST_TO_EXPLAIN = 5, 8, 20


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
