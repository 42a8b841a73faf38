"""Decisions through the service functions and queries."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict, CtxhubError, InvalidInput, NotFound
from ctxhub.core.kit.unset import UNSET, Unset
from ctxhub.core.models import Event, Layer
from memory.decisions.queries import (
    decision_item,
    find_decision,
    included,
    list_decisions,
    list_versions,
    open_decisions,
)
from memory.decisions.services import (
    delete_decision,
    deprecate_decision,
    quick_set_decision,
    set_decision,
    set_decision_batch,
)
from memory.decisions.versions import bump
from memory.models import Decision, DecisionRevision, DecisionScope, DecisionTag
from memory.suggestions.similar_keys import near_keys
from memory.suggestions.suggest import infer

pytestmark = pytest.mark.usefixtures("index_is_kept")

KEY = "api/auth/method"


def item(caller: Caller, key: str = KEY) -> dict[str, Any]:
    row = find_decision(caller.project_id, key)
    assert row is not None
    return {
        **decision_item(row),
        "rationale": row.rationale,
        "alternatives": row.alternatives,
        "tradeoffs": row.tradeoffs,
    }


def versions(caller: Caller, key: str = KEY) -> list[list[Any]]:
    return [list(row) for row in list_versions(caller.project_id, key).rows]


# -- Set: stored fields ----------------------------------------------------------------------------


def test_the_first_version_is_1_0_0(ada: Caller) -> None:
    answer = set_decision(caller=ada, key=KEY, value="JWT")
    assert answer == {"key": KEY, "id": answer["id"], "version": "1.0.0", "result": "created"}


def test_set_stores_all_fields(ada: Caller) -> None:
    fields: dict[str, Any] = {
        "layer": "business",
        "tags": ["api", "sso"],
        "scopes": ["services/auth"],
        "paths": ["src/auth/**"],
        "rationale": "Stateless.",
        "alternatives": ["Cookies", {"option": "mTLS", "why_not": "Clients."}],
        "tradeoffs": {"pros": ["fast"], "cons": ["revocation"]},
        "metadata": {"ticket": "A-1"},
    }
    set_decision(caller=ada, key=KEY, value="JWT", status="draft", version="2.1", **fields)
    shown = item(ada)
    assert {name: shown[name] for name in fields} == fields
    assert (shown["value"], shown["status"], shown["version"], shown["agent"]) == (
        "JWT",
        "draft",
        "2.1",
        "ada",
    )


@pytest.mark.parametrize("value", ["", "JWT", "5", " padded ", 0, 5, -7, 5.5, 5.0, 1e300, 10**299])
def test_a_value_comes_back_as_it_was_given(ada: Caller, value: str | int | float) -> None:
    set_decision(caller=ada, key=KEY, value=value)
    shown = item(ada)["value"]
    assert (shown, type(shown)) == (value, type(value))


@pytest.mark.parametrize("value", [True, False, float("nan"), float("inf"), 10**300, -(10**300)])
def test_a_value_must_be_a_text_or_a_finite_number(ada: Caller, value: Any) -> None:
    with pytest.raises(InvalidInput):
        set_decision(caller=ada, key=KEY, value=value)


def test_a_key_is_stripped_and_normalised(ada: Caller) -> None:
    assert set_decision(caller=ada, key="  cafe\u0301/menu ", value="x")["key"] == "café/menu"
    assert set_decision(caller=ada, key="café/menu", value="x")["result"] == "unchanged"


def test_keys_differ_by_case(ada: Caller) -> None:
    set_decision(caller=ada, key="API", value="a")
    assert set_decision(caller=ada, key="api", value="b")["result"] == "created"


@pytest.mark.parametrize("status", ["draft", "Draft", " DRAFT ", "3"])
def test_a_status_is_a_word_in_any_case_or_its_number(ada: Caller, status: str) -> None:
    set_decision(caller=ada, key=KEY, value="JWT", status=status)
    assert item(ada)["status"] == "draft"


def test_an_unknown_layer_is_refused_with_the_known_ones(ada: Caller) -> None:
    with pytest.raises(InvalidInput) as refused:
        set_decision(caller=ada, key=KEY, value="JWT", layer="busines")
    assert refused.value.details["did_you_mean"] == "business"
    assert "infrastructure" in refused.value.message
    assert not Decision.objects.in_project(ada.project).exists()


def test_a_layer_is_known_in_any_case(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="JWT", layer=" Cross-Cutting ")
    assert item(ada)["layer"] == "cross-cutting"


def test_tags_ignore_case_and_keep_their_first_spelling(ada: Caller, ben: Caller) -> None:
    set_decision(caller=ada, key="a", value="1", tags=["OAuth", "oauth", "API"])
    set_decision(caller=ben, key="b", value="2", tags=["OAUTH"])
    assert item(ada, "a")["tags"] == ["api", "OAuth"]
    assert item(ada, "b")["tags"] == ["OAuth"]


# -- Set: absent, cleared, merged ------------------------------------------------------------------

ALL_FIELDS: dict[str, Any] = {
    "layer": "business",
    "tags": ["api", "sso"],
    "scopes": ["services/auth"],
    "paths": ["src/auth/**"],
    "rationale": "Stateless.",
    "alternatives": ["Cookies"],
    "tradeoffs": {"pros": ["fast"]},
    "metadata": {"ticket": "A-1", "size": 3},
}


@pytest.mark.parametrize("name", ALL_FIELDS)
def test_an_absent_field_stays_as_it_is(ada: Caller, name: str) -> None:
    set_decision(caller=ada, key=KEY, value="JWT", **ALL_FIELDS)
    set_decision(caller=ada, key=KEY, value="OIDC")
    assert item(ada)[name] == ALL_FIELDS[name]


@pytest.mark.parametrize("name", ALL_FIELDS)
def test_null_clears_a_field(ada: Caller, name: str) -> None:
    set_decision(caller=ada, key=KEY, value="JWT", **ALL_FIELDS)
    cleared: Any = {name: None}
    assert set_decision(caller=ada, key=KEY, value="JWT", **cleared)["result"] == "updated"
    assert not item(ada).get(name)


@pytest.mark.parametrize(
    "cleared", [{"layer": ""}, {"rationale": ""}, {"tags": []}, {"scopes": []}, {"paths": []}]
)
def test_an_empty_text_or_list_clears_a_field(ada: Caller, cleared: Any) -> None:
    set_decision(caller=ada, key=KEY, value="JWT", **ALL_FIELDS)
    set_decision(caller=ada, key=KEY, value="JWT", **cleared)
    [name] = cleared
    assert not item(ada)[name]


def test_an_empty_value_is_a_value(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="JWT")
    assert set_decision(caller=ada, key=KEY, value="")["version"] == "1.0.1"
    assert item(ada)["value"] == ""


def test_metadata_merges_by_key_and_null_removes_one(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="JWT", metadata={"ticket": "A-1", "size": 3})
    set_decision(caller=ada, key=KEY, value="JWT", metadata={"size": None, "owner": "ada"})
    assert item(ada)["metadata"] == {"ticket": "A-1", "owner": "ada"}


# -- Set: versions ---------------------------------------------------------------------------------


def test_a_new_value_raises_the_version_and_creates_a_revision(ada: Caller, ben: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="JWT")
    answer = set_decision(caller=ben, key=KEY, value="OIDC")
    assert (answer["version"], answer["result"]) == ("1.0.1", "updated")
    assert [row[:4] for row in versions(ada)] == [
        ["1.0.1", "OIDC", "active", "ben"],
        ["1.0.0", "JWT", "active", "ada"],
    ]


def test_a_change_of_other_fields_keeps_the_version_and_creates_a_revision(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="JWT")
    answer = set_decision(caller=ada, key=KEY, value="JWT", rationale="Stateless.")
    assert (answer["version"], answer["result"]) == ("1.0.0", "updated")
    assert [row[0] for row in versions(ada)] == ["1.0.0", "1.0.0"]


def test_setting_equal_fields_changes_nothing(ada: Caller, ben: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="JWT", **ALL_FIELDS)
    before = item(ada), versions(ada), Event.objects.in_project(ada.project).count()
    again = {**ALL_FIELDS, "tags": ["SSO", "Api"]}
    assert set_decision(caller=ben, key=KEY, value="JWT", **again)["result"] == "unchanged"
    assert (item(ada), versions(ada), Event.objects.in_project(ada.project).count()) == before


def test_a_number_and_the_same_text_are_different_values(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value=5)
    assert set_decision(caller=ada, key=KEY, value="5", numeric=False)["version"] == "1.0.1"
    assert set_decision(caller=ada, key=KEY, value=5.0)["version"] == "1.0.2"


def test_a_version_can_be_given(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="JWT")
    assert set_decision(caller=ada, key=KEY, value="JWT", version="2.0.0-beta")["version"] == "2.0.0-beta"
    assert set_decision(caller=ada, key=KEY, value="OIDC")["version"] == "2.0.1-beta"


def test_a_new_value_with_the_current_version_gets_the_next_version(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="JWT")
    assert set_decision(caller=ada, key=KEY, value="OIDC", version="1.0.0")["version"] == "1.0.1"


@pytest.mark.parametrize(
    ("version", "following"),
    [
        ("1.0.9", "1.0.10"),
        ("v7", "v8"),
        ("2026-11", "2026-12"),
        ("1.0-rc1", "1.0-rc2"),
        ("final", "final.1"),
        ("x" * 50, "x" * 48 + ".1"),
    ],
)
def test_the_last_number_of_a_version_is_raised(version: str, following: str) -> None:
    assert bump(version) == following


def test_bumping_a_version_of_the_greatest_length_never_repeats_one() -> None:
    seen = ["x" * 48 + "98"]
    for _ in range(300):
        seen.append(bump(seen[-1]))
    assert len(set(seen)) == len(seen)
    assert max(map(len, seen)) == 50


def test_a_matching_expected_version_allows_the_write(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="JWT")
    assert set_decision(caller=ada, key=KEY, value="OIDC", expected_version="1.0.0")["result"] == "updated"


def test_another_expected_version_is_a_conflict(ada: Caller, ben: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="JWT")
    set_decision(caller=ben, key=KEY, value="OIDC")
    with pytest.raises(Conflict) as refused:
        set_decision(caller=ada, key=KEY, value="SAML", expected_version="1.0.0")
    assert refused.value.details["current"] == {"version": "1.0.1", "value": "OIDC"}
    assert item(ada)["value"] == "OIDC"


def test_an_expected_version_of_an_unknown_key_is_a_conflict(ada: Caller) -> None:
    with pytest.raises(Conflict):
        set_decision(caller=ada, key=KEY, value="JWT", expected_version="1.0.0")


def test_versions_have_their_author_and_time(ada: Caller, ben: Caller) -> None:
    with time_machine.travel("2026-11-21T10:00:00Z", tick=False):
        set_decision(caller=ada, key=KEY, value="JWT", tags=["api"], scopes=["s"])
    with time_machine.travel("2026-11-21T11:00:00Z", tick=False):
        set_decision(caller=ben, key=KEY, value="JWT", rationale="Stateless.")
    assert (item(ada)["agent"], item(ada)["updated"]) == ("ben", "2026-11-21T11:00:00Z")
    assert [row[3:] for row in versions(ada)] == [
        ["ben", "2026-11-21T11:00:00Z"],
        ["ada", "2026-11-21T10:00:00Z"],
    ]


def test_links_have_the_time_of_their_decision(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="JWT", tags=["api"], scopes=["s"])
    set_decision(caller=ada, key=KEY, value="OIDC")
    decision = Decision.objects.in_project(ada.project).get()
    times: set[datetime] = {decision.updated_at}
    times |= set(DecisionTag.objects.in_project(ada.project).values_list("updated_at", flat=True))
    times |= set(DecisionScope.objects.in_project(ada.project).values_list("updated_at", flat=True))
    assert len(times) == 1


# -- Deprecate -------------------------------------------------------------------------------------


def test_deprecating_stores_the_reason_and_the_successor(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="JWT")
    set_decision(caller=ada, key="api/auth/sessions", value="Cookies")
    answer = deprecate_decision(caller=ada, key=KEY, reason="Revocation.", superseded_by="api/auth/sessions")
    assert answer == {
        "key": KEY,
        "id": answer["id"],
        "version": "1.0.0",
        "status": "deprecated",
        "result": "updated",
        "superseded_by": "api/auth/sessions",
    }
    shown = item(ada)
    assert (shown["status"], shown["reason"], shown["superseded_by"]) == (
        "deprecated",
        "Revocation.",
        "api/auth/sessions",
    )


def test_deprecating_twice_changes_nothing(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="JWT")
    deprecate_decision(caller=ada, key=KEY, reason="Old.")
    answer = deprecate_decision(caller=ada, key=KEY)
    assert (answer["result"], item(ada)["reason"]) == ("unchanged", "Old.")


@pytest.mark.parametrize("empty", ["", None])
def test_a_successor_can_be_cleared(ada: Caller, empty: str | None) -> None:
    set_decision(caller=ada, key=KEY, value="JWT")
    set_decision(caller=ada, key="heir", value="x")
    deprecate_decision(caller=ada, key=KEY, superseded_by="heir")
    assert deprecate_decision(caller=ada, key=KEY, superseded_by=empty)["superseded_by"] is None


def test_an_unknown_key_or_successor_is_not_found(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="JWT")
    for arguments in ({"key": "nothing"}, {"key": KEY, "superseded_by": "nothing"}):
        with pytest.raises(NotFound):
            deprecate_decision(caller=ada, **arguments)
    assert item(ada)["status"] == "active"


def test_successors_must_not_form_a_cycle(ada: Caller) -> None:
    for key in ("a", "b", "c"):
        set_decision(caller=ada, key=key, value="x")
    deprecate_decision(caller=ada, key="a", superseded_by="b")
    deprecate_decision(caller=ada, key="b", superseded_by="c")
    for successor in ("a", "c"):
        with pytest.raises(Conflict):
            deprecate_decision(caller=ada, key="c", superseded_by=successor)


def test_setting_a_deprecated_decision_keeps_the_status_and_answers_a_hint(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="JWT")
    set_decision(caller=ada, key="heir", value="x")
    deprecate_decision(caller=ada, key=KEY, superseded_by="heir")
    answer = set_decision(caller=ada, key=KEY, value="JWT 2")
    assert "superseded by 'heir'" in answer["hint"]
    assert item(ada)["status"] == "deprecated"


def test_status_active_revives_a_decision(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="JWT")
    set_decision(caller=ada, key="heir", value="x")
    deprecate_decision(caller=ada, key=KEY, reason="Old.", superseded_by="heir")
    assert "hint" not in set_decision(caller=ada, key=KEY, value="JWT", status="active")
    shown = item(ada)
    assert (shown["status"], "superseded_by" in shown, "reason" in shown) == ("active", False, False)


# -- Delete ----------------------------------------------------------------------------------------


def test_a_deleted_decision_is_gone_with_its_history(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="JWT", tags=["api"], scopes=["s"])
    set_decision(caller=ada, key=KEY, value="OIDC")
    assert delete_decision(caller=ada, key=KEY) == {"key": KEY, "result": "deleted"}
    for model in (Decision, DecisionRevision, DecisionTag, DecisionScope):
        assert not model.objects.in_project(ada.project).exists()


def test_deleting_a_successor_keeps_the_decisions_it_superseded(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="JWT")
    set_decision(caller=ada, key="heir", value="x")
    deprecate_decision(caller=ada, key=KEY, superseded_by="heir")
    delete_decision(caller=ada, key="heir")
    assert item(ada)["status"] == "deprecated"
    assert "superseded_by" not in item(ada)


def test_deleting_an_unknown_key_is_not_found(ada: Caller) -> None:
    with pytest.raises(NotFound):
        delete_decision(caller=ada, key=KEY)


# -- Batches ---------------------------------------------------------------------------------------


def test_a_batch_answers_in_the_order_of_its_items(ada: Caller) -> None:
    set_decision(caller=ada, key="b", value="old")
    answer = set_decision_batch(caller=ada, items=[{"key": k, "value": "new"} for k in ("c", "b", "a")])
    assert (answer["done"], answer["failed"]) == (3, 0)
    assert [(r["key"], r["result"]) for r in answer["results"]] == [
        ("c", "created"),
        ("b", "updated"),
        ("a", "created"),
    ]


def test_a_key_may_come_twice_in_a_batch(ada: Caller) -> None:
    items: list[Mapping[str, Any]] = [{"key": KEY, "value": value} for value in ("1", "2", "2", "3")]
    answer = set_decision_batch(caller=ada, items=items)
    assert [(r["version"], r["result"]) for r in answer["results"]] == [
        ("1.0.0", "created"),
        ("1.0.1", "updated"),
        ("1.0.1", "unchanged"),
        ("1.0.2", "updated"),
    ]
    assert [row[:2] for row in versions(ada)] == [["1.0.2", "3"], ["1.0.1", "2"], ["1.0.0", "1"]]


@pytest.mark.parametrize(
    "bad",
    [
        {"key": " ", "value": "x"},
        {"key": "bad", "value": "x", "layer": "nowhere"},
        {"key": "bad", "value": "x", "expected_version": "9"},
    ],
)
def test_an_atomic_batch_is_all_or_nothing(ada: Caller, bad: Mapping[str, Any]) -> None:
    with pytest.raises(CtxhubError) as refused:
        set_decision_batch(caller=ada, items=[{"key": "good", "value": "x"}, bad])
    assert refused.value.body()["index"] == 1
    assert not Decision.objects.in_project(ada.project).exists()
    assert not Event.objects.in_project(ada.project).exists()


def test_a_batch_that_is_not_atomic_writes_the_valid_items(ada: Caller) -> None:
    items: list[Mapping[str, Any]] = [
        {"key": "a", "value": "x"},
        {"key": " ", "value": "x"},
        {"key": "b", "value": "x", "layer": "nowhere"},
        {"key": "c", "value": "x"},
    ]
    answer = set_decision_batch(caller=ada, items=items, atomic=False)
    assert (answer["done"], answer["failed"]) == (2, 2)
    assert [r.get("error", r.get("result")) for r in answer["results"]] == [
        "created",
        "invalid",
        "invalid",
        "created",
    ]
    assert sorted(Decision.objects.in_project(ada.project).values_list("key", flat=True)) == ["a", "c"]


def test_a_batch_has_at_most_50_items(ada: Caller) -> None:
    items: list[Mapping[str, Any]] = [{"key": f"k{n}", "value": n} for n in range(51)]
    assert set_decision_batch(caller=ada, items=items[:50])["done"] == 50
    with pytest.raises(InvalidInput, match="the limit is 50"):
        set_decision_batch(caller=ada, items=items)


def test_an_empty_batch_does_nothing(ada: Caller) -> None:
    assert set_decision_batch(caller=ada, items=[]) == {"done": 0, "failed": 0, "results": []}


# -- Quick set -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "layer", "tags", "scope"),
    [
        ("api/auth/login", "presentation", ["api", "auth", "login"], "api/auth"),
        ("service/order-flow", "business", ["service", "order", "flow"], "service"),
        ("db/user_table", "data", ["db", "user", "table"], "db"),
        ("config-deploy", "infrastructure", ["config", "deploy"], None),
        ("something", "business", ["something"], None),
    ],
)
def test_layer_tags_and_scope_are_inferred_from_a_key(
    key: str, layer: str, tags: list[str], scope: str | None
) -> None:
    assert infer(key) == {"layer": layer, "tags": tags, "scope": scope}


def test_quick_set_infers_for_a_new_key(ada: Caller) -> None:
    answer = quick_set_decision(caller=ada, key="api/rate-limit", value=100)
    assert answer["inferred"] == {"layer": "presentation", "tags": ["api", "rate", "limit"], "scope": "api"}
    shown = item(ada, "api/rate-limit")
    assert (shown["value"], shown["layer"], shown["tags"], shown["scopes"]) == (
        100,
        "presentation",
        ["api", "limit", "rate"],
        ["api"],
    )


def test_quick_set_changes_only_the_value_of_an_existing_key(ada: Caller) -> None:
    set_decision(caller=ada, key="api/rate-limit", value=100, layer="data", tags=["x"])
    quick_set_decision(caller=ada, key="api/rate-limit", value=200)
    shown = item(ada, "api/rate-limit")
    assert (shown["value"], shown["layer"], shown["tags"], shown["scopes"]) == (200, "data", ["x"], [])


def test_quick_set_infers_no_layer_that_the_project_has_deleted(ada: Caller) -> None:
    Layer.objects.in_project(ada.project).filter(name="presentation").delete()
    assert quick_set_decision(caller=ada, key="api/x", value=1)["inferred"]["layer"] is None


# -- Reading ---------------------------------------------------------------------------------------


def test_include_adds_rationale_links_and_history(ada: Caller) -> None:
    set_decision(caller=ada, key="old", value="x")
    set_decision(caller=ada, key=KEY, value="JWT", rationale="Stateless.")
    set_decision(caller=ada, key=KEY, value="OIDC")
    deprecate_decision(caller=ada, key="old", superseded_by=KEY)
    row = find_decision(ada.project_id, KEY)
    assert row is not None
    parts = included(ada.project_id, row, ["rationale", "history", "links"])
    assert (parts["rationale"], parts["supersedes"], parts["superseded_by"]) == ("Stateless.", ["old"], None)
    assert [version[1] for version in parts["history"].rows] == ["OIDC", "JWT"]


def test_a_mistyped_key_finds_near_keys(ada: Caller) -> None:
    for key in ("api/auth/method", "api/auth/methods", "db/engine"):
        set_decision(caller=ada, key=key, value="x")
    assert near_keys(ada.project_id, "api/auth/metod")[0] == "api/auth/method"
    assert near_keys(ada.project_id, "zzzz") == []


def test_an_unknown_key_has_no_versions(ada: Caller) -> None:
    assert list_versions(ada.project_id, "nothing").answer() == {"columns": [], "rows": [], "count": 0}


def test_a_decision_opens_in_full_or_as_a_digest(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="x" * 300, rationale="Why.")
    assert open_decisions(ada.project_id, [KEY, "nothing"], True)[KEY]["rationale"] == "Why."
    digest = open_decisions(ada.project_id, [KEY, "nothing"], False)
    assert digest == {KEY: {"value": "x" * 200 + "…", "version": "1.0.0", "status": "active"}}


def test_a_revision_has_the_time_when_its_version_was_written(ada: Caller) -> None:
    start = datetime.fromisoformat("2026-11-21T10:00:00+00:00")
    for minutes, value in enumerate(("a", "b", "c")):
        with time_machine.travel(start + timedelta(minutes=minutes), tick=False):
            set_decision(caller=ada, key=KEY, value=value)
    assert [row[1::3] for row in versions(ada)] == [
        ["c", "2026-11-21T10:02:00Z"],
        ["b", "2026-11-21T10:01:00Z"],
        ["a", "2026-11-21T10:00:00Z"],
    ]


def test_inferred_tags_with_equal_case_folding_are_one_tag(ada: Caller) -> None:
    assert quick_set_decision(caller=ada, key="straße/strasse", value="x")["inferred"]["tags"] == ["straße"]
    assert item(ada, "straße/strasse")["tags"] == ["straße"]


def test_an_inferred_scope_has_no_space_around_it(ada: Caller) -> None:
    assert quick_set_decision(caller=ada, key="api /x", value="x")["inferred"]["scope"] == "api"
    assert item(ada, "api /x")["scopes"] == ["api"]


def test_reviving_a_decision_clears_reason_and_successor(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="x")
    set_decision(caller=ada, key="heir", value="x")
    deprecate_decision(caller=ada, key=KEY, reason="Old.", superseded_by="heir")
    for status in ("draft", "active"):
        set_decision(caller=ada, key=KEY, value="x", status=status)
        assert not {"reason", "superseded_by"} & set(item(ada))


def test_a_decision_cannot_supersede_itself(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="x")
    with pytest.raises(Conflict, match="cannot supersede itself"):
        deprecate_decision(caller=ada, key=KEY, superseded_by=KEY)


# -- Unique versions -------------------------------------------------------------------------------


def test_a_version_of_an_older_revision_is_not_used_again(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="one")
    set_decision(caller=ada, key=KEY, value="two")
    assert set_decision(caller=ada, key=KEY, value="three", version="1.0.0")["version"] == "1.0.2"
    assert set_decision(caller=ada, key=KEY, value="three", version="1.0.1")["result"] == "unchanged"
    with pytest.raises(Conflict):
        set_decision(caller=ada, key=KEY, value="four", expected_version="1.0.0")


def test_a_version_of_another_key_may_be_used(ada: Caller) -> None:
    for value in ("one", "two"):
        set_decision(caller=ada, key="other", value=value, version=value)
        set_decision(caller=ada, key=KEY, value=value)
    items = [{"key": k, "value": "three", "version": "one"} for k in (KEY, "other", "new")]
    answer = set_decision_batch(caller=ada, items=items)
    assert [r["version"] for r in answer["results"]] == ["one", "two.1", "one"]


def test_only_a_changed_version_takes_another_read(ada: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="x")
    query_counts = []
    versions: list[str | Unset] = [UNSET, "1.0.1", "2.0"]
    for n, version in enumerate(versions):
        with CaptureQueriesContext(connection) as captured:
            set_decision(caller=ada, key=KEY, value=n, version=version)
        query_counts.append(len(captured))
    made = 1 if connection.vendor == "sqlite" else 2  # PostgreSQL cannot tell that nothing was written.
    assert query_counts[2] == query_counts[0] + made == query_counts[1] + made


# -- Times of batch items --------------------------------------------------------------------------


def test_since_an_event_within_a_batch_lists_the_later_items(ada: Caller) -> None:
    set_decision(caller=ada, key="k1", value="old", tags=["kept"], scopes=["kept"])
    keys = ["k0", "k1", "k2", "k0", "k3"]
    set_decision_batch(caller=ada, items=[{"key": k, "value": n, "tags": ["t"]} for n, k in enumerate(keys)])
    refs = list(Event.objects.in_project(ada.project).order_by("pk").values_list("pk", "ref"))[1:]
    for position, (event_id, _) in enumerate(refs):
        later = {ref.removeprefix("decision:") for _, ref in refs[position + 1 :]}
        for tags in ([], ["t"]):
            listed = list_decisions(ada.project_id, since=f"e{event_id}", tags=tags).rows
            assert {key for key, *_ in listed} == later
    assert refs[-1][1] == "decision:k0"


def test_the_only_changed_item_has_the_time_of_its_event(ada: Caller) -> None:
    items = [{"key": f"k{n}", "value": n} for n in range(3)]
    set_decision_batch(caller=ada, items=items)
    set_decision_batch(caller=ada, items=[*items[:2], {"key": "k2", "value": "new"}])
    last = Event.objects.in_project(ada.project).order_by("-pk")[0]
    assert last.at == Decision.objects.in_project(ada.project).get(key="k2").updated_at


def test_links_and_revisions_have_the_time_of_their_decision(ada: Caller) -> None:
    for value in (1, 2):
        items = [{"key": f"k{n}", "value": value, "tags": ["t"], "scopes": ["s"]} for n in range(3)]
        set_decision_batch(caller=ada, items=items)
    for decision in Decision.objects.in_project(ada.project):
        events = Event.objects.in_project(ada.project).filter(ref=decision.ref).order_by("pk")
        first, last = events.values_list("at", flat=True)
        assert last == decision.updated_at == decision.tag_links.get().updated_at
        assert last == decision.scope_links.get().updated_at
        assert first == decision.revisions.get().at == decision.created_at


# -- Near keys -------------------------------------------------------------------------------------


def test_the_nearest_key_is_the_one_that_differs_only_in_case(ada: Caller) -> None:
    set_decision_batch(caller=ada, items=[{"key": f"API/AUTH/M{n}", "value": n} for n in range(5)])
    set_decision(caller=ada, key=KEY, value="x")
    assert near_keys(ada.project_id, KEY.upper())[0] == KEY


# -- Size of metadata ------------------------------------------------------------------------------


def test_merged_metadata_beyond_the_limit_is_refused(ada: Caller) -> None:
    set_decision(caller=ada, key="k", value=1, metadata={"a": "x" * 40_000})
    with pytest.raises(InvalidInput, match=r"metadata would have 80,0.* the limit is 65,536"):
        set_decision(caller=ada, key="k", value=1, metadata={"b": "x" * 40_000})
    set_decision(caller=ada, key="k", value=1, metadata={"a": None, "b": "x" * 40_000})
    row = find_decision(ada.project_id, "k")
    assert row
    assert set(row.metadata) == {"b"}


def test_stored_metadata_beyond_the_limit_can_be_made_smaller(ada: Caller) -> None:
    metadata = {"a": "x" * 70_000, "b": "x" * 70_000}
    Decision.objects.create(project=ada.project, key="k", value="x", metadata=metadata)
    assert set_decision(caller=ada, key="k", value="x", metadata={"a": None})["result"] == "updated"
