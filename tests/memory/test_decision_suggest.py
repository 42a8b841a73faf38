"""Decisions suggested for a key, a text or tags: scores and selection."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from memory.decisions.services import deprecate_decision, set_decision, set_decision_batch
from memory.suggestions.suggest import suggest_decisions
from tests.hub import McpClient, RestClient
from tests.properties import SHARED_FIXTURES

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
KEY = "api/auth/method"


def decide(caller: Caller, key: str, days_ago: int = 0, **rest: Any) -> None:
    with time_machine.travel(NOON - timedelta(days=days_ago), tick=False):
        set_decision(caller=caller, key=key, **{"value": "x", **rest})


def suggested(caller: Caller, **query: Any) -> list[dict[str, Any]]:
    with time_machine.travel(NOON, tick=False):
        return suggest_decisions(caller.project_id, **query).objects()


def scores(caller: Caller, **query: Any) -> dict[str, int]:
    return {row["key"]: row["score"] for row in suggested(caller, **query)}


# -- Scores ----------------------------------------------------------------------------------------


def test_tags_score_by_shared_tags_over_all_tags(ada: Caller) -> None:
    decide(ada, "same", tags=["api", "Auth"])
    decide(ada, "half", tags=["api", "auth", "db", "ui"])
    decide(ada, "third", 100, tags=["api", "db"])
    decide(ada, "none", tags=["db"])
    assert suggested(ada, tags=["API", "auth"]) == [
        {
            "key": "same",
            "score": 100,
            "reason": "tags api, Auth",
            "parts": {"tags": 90.0, "recency": 10},
        },
        {"key": "half", "score": 55, "reason": "tags api, Auth", "parts": {"tags": 45.0, "recency": 10}},
        {"key": "third", "score": 32, "reason": "tags api", "parts": {"tags": 30.0, "recency": 2}},
    ]


def test_one_shared_tag_of_many_scores_low(ada: Caller) -> None:
    decide(ada, "everything", tags=[f"t{n}" for n in range(50)])
    assert scores(ada, tags=["t1"]) == {}
    assert scores(ada, tags=["t1"], min_score=0) == {"everything": 12}


def test_a_key_scores_by_its_words_and_its_path(ada: Caller) -> None:
    for key in ("api/auth/methods", "auth/api/method", "api/auth/timeout", "web/colour"):
        decide(ada, key, 365)
    assert suggested(ada, key=KEY) == [
        {"key": "api/auth/methods", "score": 87, "reason": "key says the same", "parts": {"key": 87.0}},
        {"key": "auth/api/method", "score": 81, "reason": "key says the same", "parts": {"key": 81.0}},
        {
            "key": "api/auth/timeout",
            "score": 47,
            "reason": "key begins with api/auth",
            "parts": {"key": 46.5},
        },
    ]


def test_rare_words_of_a_text_score_more_than_common_ones(ada: Caller) -> None:
    decide(ada, "a", 365, value="Access tokens are signed and rotated.")
    for n in range(5):
        decide(ada, f"common/{n}", 365, value="Tokens are counted.")
    found = suggested(ada, text="How do we rotate tokens?")
    assert found[0]["key"] == "a"
    assert found[0]["reason"] == "text rotate, tokens"
    assert found[0]["score"] > 3 * scores(ada, text="How do we rotate tokens?", min_score=0)["common/0"]


def test_tags_layer_key_and_text_add_up(ada: Caller) -> None:
    decide(ada, "API/Auth", layer="business", tags=["api"], value="JWT")
    [row] = suggested(ada, key="api/auth", tags=["api"], layer="Business", text="jwt")
    assert row == {
        "key": "API/Auth",
        "score": 100,
        "reason": "tags api; same layer; key says the same; text jwt",
        "parts": {"tags": 28.8, "layer": 18.0, "key": 14.4, "text": 28.8, "recency": 10},
    }


@pytest.mark.parametrize(
    "query",
    [
        {"key": "api/auth"},
        {"text": "JWT"},
        {"tags": ["api"]},
        {"key": "api/auth", "tags": ["api"]},
        {"text": "JWT", "layer": "business"},
        {"key": "api/auth", "text": "JWT", "layer": "business"},
    ],
    ids=str,
)
def test_every_combination_of_arguments_can_score_a_hundred(ada: Caller, query: dict[str, Any]) -> None:
    decide(ada, "API/Auth", layer="business", tags=["api"], value="JWT")
    assert scores(ada, **query) == {"API/Auth": 100}


@pytest.mark.parametrize(
    ("days", "points"), [(0, 10), (30, 10), (31, 5), (90, 5), (91, 2), (180, 2), (181, 0)]
)
def test_recent_changes_score_a_little_more(ada: Caller, days: int, points: int) -> None:
    decide(ada, "a", days, tags=["api"])
    assert scores(ada, tags=["api"]) == {"a": 90 + points}


def test_recency_alone_suggests_nothing(ada: Caller) -> None:
    decide(ada, "api/auth/other", layer="data")
    assert scores(ada, tags=["api"], layer="data", key="zebra", min_score=0)["api/auth/other"] > 10
    assert scores(ada, tags=["api"], key="zebra", min_score=0) == {}


def test_equal_scores_are_ordered_by_key(ada: Caller) -> None:
    for key in ("b", "c", "a"):
        decide(ada, key, tags=["api"])
    assert list(scores(ada, tags=["api"])) == ["a", "b", "c"]


# -- Selection -------------------------------------------------------------------------------------


def test_drafts_are_suggested_and_deprecated_decisions_are_not(ada: Caller) -> None:
    decide(ada, "ended", tags=["api"], value="JWT")
    decide(ada, "draft", tags=["api"], status="draft", value="JWT")
    deprecate_decision(caller=ada, key="ended")
    for query in ({"tags": ["api"]}, {"text": "JWT"}, {"key": "ended/draft", "min_score": 1}):
        assert list(scores(ada, **query)) == ["draft"]


def test_an_existing_key_is_compared_by_its_layer_and_tags(ada: Caller) -> None:
    decide(ada, KEY, layer="business", tags=["api", "auth"])
    decide(ada, "web/login", layer="business", tags=["api", "auth"])
    [row] = suggested(ada, key=KEY)
    assert (row["key"], row["reason"]) == ("web/login", "tags api, auth; same layer")
    assert row["parts"] == {"tags": 42.4, "layer": 26.5, "recency": 10}
    assert suggested(ada, key=KEY, tags=["web"])[0]["parts"] == {"layer": 26.5, "recency": 10}


def test_limit_and_min_score_restrict_the_suggestions(ada: Caller) -> None:
    for n in range(8):
        decide(ada, f"k{n}", tags=["api", *(f"t{i}" for i in range(n))])
    assert list(scores(ada, tags=["api"])) == ["k0", "k1", "k2", "k3"]
    assert list(scores(ada, tags=["api"], limit=2)) == ["k0", "k1"]
    assert list(scores(ada, tags=["api"], min_score=50)) == ["k0", "k1"]
    assert len(scores(ada, tags=["api"], min_score=0, limit=200)) == 8


def test_a_match_of_all_tags_is_found_behind_many_newer_matches_of_one(ada: Caller) -> None:
    decide(ada, "old", 20, tags=["api", "auth"])
    for n in range(0, 100, 50):
        items = [{"key": f"k{i}", "value": i, "tags": [("api", "auth")[i % 2]]} for i in range(n, n + 50)]
        set_decision_batch(caller=ada, items=items)
    assert scores(ada, tags=["api", "auth"], limit=1) == {"old": 100}


def test_at_most_200_candidates_are_scored(ada: Caller) -> None:
    for n in range(0, 500, 50):
        items = [{"key": f"api/k{i}", "value": "JWT", "tags": ["api", "auth"]} for i in range(n, n + 50)]
        set_decision_batch(caller=ada, items=items)
    found = scores(ada, key="api/jwt", text="JWT", tags=["api", "auth"], min_score=0, limit=200)
    assert 50 < len(found) <= 200


def test_mistyped_words_and_chinese_texts_find_decisions(ada: Caller) -> None:
    decide(ada, "api/auth", value="Authentication is stateless.")
    decide(ada, "快取/策略", value="服務效能瓶頸")
    assert list(scores(ada, text="authentcation")) == ["api/auth"]
    assert list(scores(ada, text="效能")) == ["快取/策略"]
    assert list(scores(ada, key="快取/策略方案")) == ["快取/策略"]


def test_a_long_text_is_searched_by_its_most_telling_words(ada: Caller) -> None:
    decide(ada, "a", value="Tokens rotate every hour, families are revoked.")
    text = (
        "When somebody comes back with an old token, we think of it as stolen. " * 20 + "Revoke the family."
    )
    assert list(scores(ada, text=text)) == ["a"]


def test_another_projects_decisions_are_never_suggested(ada: Caller, cy: Caller) -> None:
    decide(cy, KEY, tags=["api"], value="JWT")
    assert scores(ada, key=KEY, text="JWT", tags=["api"], min_score=0) == {}


# -- Bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", [{}, {"key": "", "text": "", "tags": []}, {"layer": "data"}], ids=str)
def test_a_key_a_text_or_tags_are_required(ada: Caller, query: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        suggested(ada, **query)
    assert refused.value.details["missing"] == ["key", "text", "tags"]


@pytest.mark.parametrize(
    "bad",
    [
        {"key": "   "},
        {"key": "k" * 201},
        {"text": " \n"},
        {"text": "x" * 70_000},
        {"tags": ["t" * 101]},
        {"tags": ["a"], "layer": "nowhere"},
        {"tags": ["a"], "min_score": 101},
        {"tags": ["a"], "min_score": -1},
        {"tags": ["a"], "limit": 0},
        {"text": "a\x00b"},
    ],
    ids=lambda bad: str(bad)[:40],
)
def test_invalid_arguments_are_refused(ada: Caller, bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        suggested(ada, **bad)


@settings(SHARED_FIXTURES, max_examples=60)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_key_and_text_are_answered_or_refused(ada: Caller, key: str, text: str) -> None:
    decide(ada, KEY)
    try:
        found = suggested(ada, key=key, text=text, tags=["api"], min_score=0)
    except InvalidInput:
        return
    assert all(0 <= row["score"] <= 100 for row in found)


# -- MCP and REST ----------------------------------------------------------------------------------


def test_suggestions_over_mcp(ada_mcp: McpClient, cy_mcp: McpClient) -> None:
    ada_mcp.call("decision", "set", key=KEY, value="JWT", tags=["api"])
    query = {"key": "api/auth/methods", "tags": ["api"], "text": "Which JWT?"}
    assert ada_mcp.call("decision", "suggest", **query) == {
        "columns": ["key", "score", "reason", "parts"],
        "rows": [
            [
                KEY,
                99,
                "tags api; key says the same; text jwt",
                {"tags": 36.0, "key": 17.4, "text": 36.0, "recency": 10},
            ]
        ],
        "count": 1,
    }
    assert cy_mcp.call("decision", "suggest", **query) == {"columns": [], "rows": [], "count": 0}
    assert ada_mcp.call("decision", "suggest")["missing"] == ["key", "text", "tags"]


def test_suggestions_over_rest(ada_rest: RestClient, cy_rest: RestClient) -> None:
    ada_rest.post("decisions/", {"key": KEY, "value": "JWT", "tags": ["api", "auth"]})
    reply = ada_rest.get("decisions/suggest/", tags="api,auth", limit=1)
    assert (reply.status, reply.body["count"], reply.body["next"]) == (200, 1, None)
    assert reply.body["items"] == [
        {"key": KEY, "score": 100, "reason": "tags api, auth", "parts": {"tags": 90.0, "recency": 10}}
    ]
    assert ada_rest.get("decisions/suggest/", tags="auth", min_score=90).body["items"] == []
    assert cy_rest.get("decisions/suggest/", key=KEY, text="JWT").body["items"] == []
    ada_rest.post("decisions/", {"key": f"{KEY}s", "value": "JWT"})
    small = ada_rest.get("decisions/suggest/", max_tokens=10, text="jwt").body
    assert (small["count"], small["omitted"]) == (1, 1)


def test_rest_refuses_invalid_queries(ada_rest: RestClient) -> None:
    assert ada_rest.get("decisions/suggest/").body["missing"] == ["key", "text", "tags"]
    for query in ({"key": "a", "min_score": 200}, {"key": "a", "limit": 0}, {"nothing": 1}):
        assert ada_rest.get("decisions/suggest/", **query).status == 400


def test_a_key_may_be_named_like_the_suggest_endpoint(ada_rest: RestClient) -> None:
    ada_rest.post("decisions/", {"key": "suggest", "value": 1})
    assert ada_rest.get("decisions/", key="suggest").body["count"] == 1
    assert ada_rest.post("call/decision/suggest/", {"key": "suggests"}).body["rows"][0][:2] == ["suggest", 91]
