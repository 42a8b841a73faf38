"""A new key is answered with those that may mean the same: a warning, and never a merge."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.decisions.selectors.similar_keys import near_keys
from memory.decisions.selectors.suggestions import suggest_decisions
from memory.decisions.services.decisions import (
    deprecate_decision,
    quick_set_decision,
    replace_decision,
    set_decision,
    set_decision_batch,
)
from memory.decisions.services.templates import set_from_template
from memory.models import Decision
from tests.hub import McpClient, RestClient
from tests.query_plans import explained

KEY = "api/auth/method"


def similar(caller: Caller, key: str, **rest: Any) -> list[str]:
    answer = set_decision(caller=caller, key=key, value="y", **rest)
    return [near["key"] for near in answer.get("similar", ())]


@pytest.fixture
def decided(ada: Caller) -> Caller:
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
def test_a_new_key_is_told_which_may_mean_the_same(decided: Caller, key: str) -> None:
    assert similar(decided, key) == [KEY]


@pytest.mark.parametrize(
    "key", ["api/auth/timeout", "db/auth/method", "api/auth", "api/auth/method/default", "x"]
)
def test_a_sibling_a_parent_and_a_cousin_are_no_news(decided: Caller, key: str) -> None:
    assert similar(decided, key) == []


def test_the_short_form_is_found_by_the_long_one_and_the_other_way_round(ada: Caller) -> None:
    set_decision(caller=ada, key="api/authentication/method", value="JWT")
    assert similar(ada, KEY) == ["api/authentication/method"]


def test_nothing_is_merged(decided: Caller) -> None:
    answer = set_decision(caller=decided, key="auth/api/method", value="sessions")
    assert answer["result"] == "created"
    assert Decision.objects.in_project(decided.project).get(key=KEY).value == "JWT"


def test_a_key_that_was_there_is_told_nothing(decided: Caller) -> None:
    similar(decided, "api/auth/methods")
    for value in ("y", "z"):
        assert "similar" not in set_decision(caller=decided, key=KEY, value=value)


def test_the_score_is_that_of_suggest(ada: Caller) -> None:
    with time_machine.travel(datetime(2026, 5, 1, tzinfo=UTC), tick=False) as clock:
        set_decision(caller=ada, key="auth/api/method", value="x")
        clock.shift(timedelta(days=60))
        answer = set_decision(caller=ada, key=KEY, value="y")
        assert answer["similar"] == [{"key": "auth/api/method", "score": 86}]
        [row] = suggest_decisions(ada.project_id, key=KEY).objects()
        assert (row["key"], row["score"]) == ("auth/api/method", 86)


def test_no_more_than_three_are_named_best_first(ada: Caller) -> None:
    for key in ("auth/method", "auth/api/method", "api/auth/methods", "api/authentication/method"):
        set_decision(caller=ada, key=key, value="x")
    assert similar(ada, KEY) == ["api/auth/methods", "auth/api/method", "api/authentication/method"]


def test_what_is_deprecated_and_another_projects_are_not_named(decided: Caller, cy: Caller) -> None:
    assert similar(cy, "api/auth/methods") == []
    deprecate_decision(caller=decided, key=KEY)
    assert similar(decided, "auth/api/method") == []


def test_it_is_found_among_many(decided: Caller) -> None:
    for n in range(0, 200, 50):
        items = [{"key": f"api/auth/m{i}", "value": "a method of the api"} for i in range(n, n + 50)]
        set_decision_batch(caller=decided, items=items)
    assert similar(decided, "auth/api/methods") == [KEY]


def test_every_way_to_set_one_tells(decided: Caller) -> None:
    expected = [{"key": KEY, "score": 97}]
    assert quick_set_decision(caller=decided, key="api/auth/methods", value=1)["similar"] == expected
    Decision.objects.in_project(decided.project).get(key="api/auth/methods").delete()
    assert replace_decision(caller=decided, key="api/auth/methods", value=1)["similar"] == expected
    Decision.objects.in_project(decided.project).get(key="api/auth/methods").delete()
    answer = set_from_template(caller=decided, name="deprecation", key="api/auth/methods", value="x")
    assert answer["similar"] == expected


def test_a_batch_is_not_slowed_down_by_it(decided: Caller) -> None:
    answer = set_decision_batch(caller=decided, items=[{"key": "api/auth/methods", "value": 1}])
    assert "similar" not in answer["results"][0]


def test_whoever_may_only_write_learns_of_no_key(apollo: Project, decided: Caller) -> None:
    writer = Caller(project=apollo, agent="ada", scopes=frozenset({"write"}))
    assert similar(writer, "api/auth/methods") == []


def test_every_face_passes_it_on(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    ada_rest.post("decisions/", {"key": KEY, "value": "JWT"})
    expected = [{"key": KEY, "score": 97}]
    assert ada_mcp.call("decision", "set", key="api/auth/methods", value="x")["similar"] == expected
    shouted = ada_rest.post("decisions/", {"key": KEY.upper(), "value": 1}).body
    assert shouted["similar"][0] == {"key": KEY, "score": 100}
    assert "similar" not in ada_rest.put("decisions/x/", {"value": 1}).body


# -- A key that is not there -----------------------------------------------------------------------


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
def test_an_unknown_key_is_answered_with_the_nearest_among_many(decided: Caller, mistyped: str) -> None:
    for first in range(0, 500, 50):
        items = [{"key": f"{'abmz'[n % 4]}{n}/x{n}", "value": "a method"} for n in range(first, first + 50)]
        set_decision_batch(caller=decided, items=items)
    assert near_keys(decided.project_id, mistyped)[0] == KEY


def test_a_key_that_is_like_none_is_answered_with_none(decided: Caller) -> None:
    assert near_keys(decided.project_id, "zebra") == near_keys(decided.project_id, "→") == []


def test_keys_of_what_is_deprecated_are_near_too(decided: Caller) -> None:
    deprecate_decision(caller=decided, key=KEY)
    assert near_keys(decided.project_id, "api/auth/metod") == [KEY]


# -- What it costs ---------------------------------------------------------------------------------


def test_it_takes_one_statement_behind_the_write(apollo: Project, decided: Caller) -> None:
    writer = Caller(project=apollo, agent="ada", scopes=frozenset({"write"}))
    assert len(statements(decided, "auth/api/method")) == len(statements(writer, "auth/api/methods")) + 1


def test_it_walks_indexes_alone(decided: Caller) -> None:
    plan = explained(statements(decided, "auth/api/method")[-1])
    assert "memory_decision" in plan
    assert not re.search(r"SCAN (d|memory_decision|e|t)\b(?! USING)", plan), plan


def statements(caller: Caller, key: str) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        set_decision(caller=caller, key=key, value="x")
    return [query["sql"] for query in captured.captured_queries]
