"""Similar keys: a new key is answered with existing ones, as a warning and never as a merge."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.decisions.services import (
    deprecate_decision,
    quick_set_decision,
    replace_decision,
    set_decision,
    set_decision_batch,
)
from memory.models import Decision
from memory.suggestions.similar_keys import near_keys
from memory.suggestions.suggest import suggest_decisions
from memory.templates.services import set_from_template
from tests.hub import McpClient, RestClient
from tests.query_plans import explained

KEY = "api/auth/method"


def similar(caller: Caller, key: str, **rest: Any) -> list[str]:
    answer = set_decision(caller=caller, key=key, value="y", **rest)
    return [row["key"] for row in answer.get("similar", ())]


@pytest.fixture
def author(ada: Caller) -> Caller:
    set_decision(caller=ada, key=KEY, value="JWT")
    return ada


@pytest.mark.parametrize(
    "key",
    [
        "api/auth/methods",
        "auth/api/method",
        "api/authentication/method",
        "API/auth/Method",
        "api/auth/metod",
        "api-auth-method",
        "auth/method",
        "api/auth/login-method",
    ],
)
def test_setting_a_new_key_answers_similar_keys(author: Caller, key: str) -> None:
    assert similar(author, key) == [KEY]


@pytest.mark.parametrize(
    "key", ["api/auth/timeout", "db/auth/method", "api/auth", "api/auth/method/default", "x"]
)
def test_related_keys_with_another_meaning_are_not_similar(author: Caller, key: str) -> None:
    assert similar(author, key) == []


def test_an_abbreviated_word_finds_the_full_word(ada: Caller) -> None:
    set_decision(caller=ada, key="api/authentication/method", value="JWT")
    assert similar(ada, KEY) == ["api/authentication/method"]


def test_similar_decisions_are_not_merged(author: Caller) -> None:
    answer = set_decision(caller=author, key="auth/api/method", value="sessions")
    assert answer["result"] == "created"
    assert Decision.objects.in_project(author.project).get(key=KEY).value == "JWT"


def test_updating_an_existing_key_answers_no_similar_keys(author: Caller) -> None:
    similar(author, "api/auth/methods")
    for value in ("y", "z"):
        assert "similar" not in set_decision(caller=author, key=KEY, value=value)


def test_the_score_equals_that_of_suggest(ada: Caller) -> None:
    with time_machine.travel(datetime(2026, 5, 1, tzinfo=UTC), tick=False) as clock:
        set_decision(caller=ada, key="auth/api/method", value="x")
        clock.shift(timedelta(days=60))
        answer = set_decision(caller=ada, key=KEY, value="y")
        assert answer["similar"] == [{"key": "auth/api/method", "score": 86}]
        [row] = suggest_decisions(ada.project_id, key=KEY).objects()
        assert (row["key"], row["score"]) == ("auth/api/method", 86)


def test_at_most_three_similar_keys_are_given_best_first(ada: Caller) -> None:
    for key in ("auth/method", "auth/api/method", "api/auth/methods", "api/authentication/method"):
        set_decision(caller=ada, key=key, value="x")
    assert similar(ada, KEY) == ["api/auth/methods", "auth/api/method", "api/authentication/method"]


def test_deprecated_decisions_and_other_projects_are_left_out(author: Caller, cy: Caller) -> None:
    assert similar(cy, "api/auth/methods") == []
    deprecate_decision(caller=author, key=KEY)
    assert similar(author, "auth/api/method") == []


def test_a_similar_key_is_found_among_many(author: Caller) -> None:
    for n in range(0, 200, 50):
        items = [{"key": f"api/auth/m{i}", "value": "a method of the api"} for i in range(n, n + 50)]
        set_decision_batch(caller=author, items=items)
    assert similar(author, "auth/api/methods") == [KEY]


def test_quick_set_replace_and_templates_answer_similar_keys(author: Caller) -> None:
    expected = [{"key": KEY, "score": 97}]
    assert quick_set_decision(caller=author, key="api/auth/methods", value=1)["similar"] == expected
    Decision.objects.in_project(author.project).get(key="api/auth/methods").delete()
    assert replace_decision(caller=author, key="api/auth/methods", value=1)["similar"] == expected
    Decision.objects.in_project(author.project).get(key="api/auth/methods").delete()
    answer = set_from_template(caller=author, name="deprecation", key="api/auth/methods", value="x")
    assert answer["similar"] == expected


def test_a_batch_does_not_search_similar_keys(author: Caller) -> None:
    answer = set_decision_batch(caller=author, items=[{"key": "api/auth/methods", "value": 1}])
    assert "similar" not in answer["results"][0]


def test_a_write_only_caller_gets_no_similar_keys(apollo: Project, author: Caller) -> None:
    writer = Caller(project=apollo, agent="ada", scopes=frozenset({"write"}))
    assert similar(writer, "api/auth/methods") == []


def test_mcp_and_rest_answer_similar_keys(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    ada_rest.post("decisions/", {"key": KEY, "value": "JWT"})
    expected = [{"key": KEY, "score": 97}]
    assert ada_mcp.call("decision", "set", key="api/auth/methods", value="x")["similar"] == expected
    created = ada_rest.post("decisions/", {"key": KEY.upper(), "value": 1}).body
    assert created["similar"][0] == {"key": KEY, "score": 100}
    assert "similar" not in ada_rest.put("decisions/x/", {"value": 1}).body


# -- Unknown keys ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mistyped",
    [
        "api/auth/metod",
        "aip/auth/method",
        "api/atuh/mehtod",
        "API/Auth/Method",
        "method/auth/api",
        "api/auth/method/",
        "auth/methods",
        "api.auth.method",
        "zpi/auth/method",
    ],
)
def test_near_keys_begin_with_the_most_similar_key(author: Caller, mistyped: str) -> None:
    for first in range(0, 500, 50):
        items = [{"key": f"{'abmz'[n % 4]}{n}/x{n}", "value": "a method"} for n in range(first, first + 50)]
        set_decision_batch(caller=author, items=items)
    assert near_keys(author.project_id, mistyped)[0] == KEY


def test_a_key_like_no_other_has_no_near_keys(author: Caller) -> None:
    assert near_keys(author.project_id, "zebra") == near_keys(author.project_id, "→") == []


def test_near_keys_include_deprecated_decisions(author: Caller) -> None:
    deprecate_decision(caller=author, key=KEY)
    assert near_keys(author.project_id, "api/auth/metod") == [KEY]


# -- Queries ---------------------------------------------------------------------------------------


def test_similar_keys_take_a_statement_after_the_write_and_another_if_there_are_any(
    apollo: Project, author: Caller
) -> None:
    writer = Caller(project=apollo, agent="ada", scopes=frozenset({"write"}))
    unread = len(statements(writer, "auth/api/methods"))
    assert len(statements(author, "auth/api/method")) == unread + 2
    assert len(statements(author, "quite/another")) == unread + 1


@pytest.mark.parametrize("place", [-2, -1])
def test_similar_keys_are_read_through_indexes(author: Caller, place: int) -> None:
    plan = explained(statements(author, "auth/api/method")[place])
    assert "memory_decision" in plan
    assert not re.search(r"SCAN (d|memory_decision|e|t)\b(?! USING)", plan), plan


def statements(caller: Caller, key: str) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        set_decision(caller=caller, key=key, value="x")
    return [query["sql"] for query in captured.captured_queries]
