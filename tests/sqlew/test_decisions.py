"""Import of sqlew's decisions: values, times, authors, tags, scopes, layers, history and reasons."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Event, Layer, Project, Scope, Tag
from memory.decisions.queries import find_decision, list_versions
from memory.decisions.services import set_decision
from memory.models import Decision
from tests.sqlew.importing import Import, imported
from tests.sqlew.old_file import OldFile
from tests.stored_names import invisible_names

pytestmark = pytest.mark.usefixtures("index_is_kept")

Take = Callable[..., Import]
THEN = datetime(2025, 10, 11, 12, 0, 0, tzinfo=UTC)


def stored(project: Project, key: str) -> Decision:
    return Decision.objects.in_project(project).select_related("agent", "layer").get(key=key)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_decision_keeps_its_fields_and_time(
    apollo: Project, old_version: Callable[[int], OldFile], version: int
) -> None:
    file = old_version(version)
    labels: dict[str, Any] = {"tags": ["api", "Own"], "scopes": ["user-service"]}
    file.decision("auth", "JWT", agent="ada", layer="business", version="2.1", status=2, at=THEN, **labels)
    imported(file.close())
    decision = stored(apollo, "auth")
    assert (decision.typed_value, decision.version, decision.status) == (
        "JWT",
        "2.1",
        Decision.Status.DEPRECATED,
    )
    assert (decision.agent and decision.agent.name, decision.layer and decision.layer.name) == (
        "ada",
        "business",
    )
    assert decision.created_at == decision.updated_at == THEN
    assert sorted(decision.tags.values_list("name", flat=True)) == ["Own", "api"]
    assert list(decision.scopes.values_list("name", flat=True)) == ["user-service"]


def test_names_lose_characters_that_nobody_sees_and_the_report_says_so(
    apollo: Project, old: OldFile, take: Take
) -> None:
    old.decision(
        "zw\u200b/key", "x", agent="be\u200bn", tags=["a\u2060pi", "\ufeffweb"], scopes=["us\u00ader"]
    )
    old.decision("zw/key", "y")
    report = take()
    decision = Decision.objects.in_project(apollo).get(key="zw/key")
    assert str(decision.agent) == "ben"
    assert sorted(decision.tags.values_list("name", flat=True)) == ["api", "web"]
    assert list(decision.scopes.values_list("name", flat=True)) == ["user"]
    assert invisible_names() == []
    why = "characters that nobody sees are left out"
    assert set(report.changes) == {
        f"decisions (1): {why}: 'zw⟦U+200B⟧/key'",
        f"agents (1): {why}: 'be⟦U+200B⟧n'",
        f"tags (2): {why}: 'a⟦U+2060⟧pi', '⟦U+FEFF⟧web'",
        f"scopes (1): {why}: 'us⟦U+00AD⟧er'",
    }
    assert report.reasons == [
        "decisions (1): the same key as another, but for spaces or the way it is written: 'zw/key'"
    ]
    assert not take().is_new


@pytest.mark.parametrize("version", [4, 5])
def test_a_decision_of_a_version_without_agents_has_no_author(
    apollo: Project, old_version: Callable[[int], OldFile], version: int
) -> None:
    file = old_version(version)
    file.decision("auth", "JWT", layer="planning", at=THEN, tags=["api"], scopes=["user-service"])
    imported(file.close())
    decision = stored(apollo, "auth")
    assert (decision.typed_value, decision.agent) == ("JWT", None)
    assert decision.layer
    assert decision.layer.name == "planning"
    assert list(decision.tags.values_list("name", flat=True)) == ["api"]


@pytest.mark.parametrize(
    ("value", "expected"), [(5.0, 5), (5.5, 5.5), (-3, -3), (1e300, 1e300), ("5", "5"), ("", "")]
)
def test_values_keep_their_type(apollo: Project, old: OldFile, take: Take, value: Any, expected: Any) -> None:
    old.decision("limit", value)
    take()
    found = stored(apollo, "limit").typed_value
    assert (found, type(found)) == (expected, type(expected))


def test_of_a_text_and_a_number_the_newer_is_current_and_the_older_a_revision(
    apollo: Project, old: OldFile, take: Take
) -> None:
    old.decision("limit", "five", agent="ben", at=THEN)
    old.decision("limit", 7, agent="ada", version="1.0.1", at=THEN + timedelta(hours=1))
    assert take().counts["decisions"] == (1, 0, 0)
    versions = list_versions(apollo.pk, "limit").objects()
    assert [(v["value"], v["version"], v["agent"]) for v in versions] == [
        (7, "1.0.1", "ada"),
        ("five", "1.0.0", "ben"),
    ]


def test_within_the_same_second_the_text_is_current(apollo: Project, old: OldFile, take: Take) -> None:
    old.decision("limit", 7, at=THEN)
    old.decision("limit", "five", at=THEN)
    take()
    assert stored(apollo, "limit").typed_value == "five"


def test_history_becomes_revisions_in_order(apollo: Project, old: OldFile, take: Take) -> None:
    old.decision("auth", "three", version="1.2.0", agent="cyd", at=THEN + timedelta(days=2))
    old.past("auth", "two", version="1.1.0", agent="ben", at=THEN + timedelta(days=1))
    old.past("auth", "one", version="1.0.0", agent="ada", at=THEN)
    assert take().counts["revisions"] == (2, 0, 0)
    versions = list_versions(apollo.pk, "auth").objects()
    assert [(v["value"], v["version"], v["agent"]) for v in versions] == [
        ("three", "1.2.0", "cyd"),
        ("two", "1.1.0", "ben"),
        ("one", "1.0.0", "ada"),
    ]
    assert versions[2]["at"] == "2025-10-11T12:00:00Z"
    assert stored(apollo, "auth").created_at == THEN


def test_the_history_of_a_number_is_converted_to_numbers_where_possible(
    apollo: Project, old: OldFile, take: Take
) -> None:
    old.decision("limit", 7, at=THEN + timedelta(days=2))
    old.past("limit", "5.5", at=THEN + timedelta(days=1))
    old.past("limit", "few", at=THEN)
    take()
    assert [v["value"] for v in list_versions(apollo.pk, "limit").objects()] == [7, 5.5, "few"]


@pytest.mark.parametrize("version", [3, 4, 5])
def test_reasons_are_imported(apollo: Project, old_version: Callable[[int], OldFile], version: int) -> None:
    file = old_version(version)
    file.decision("auth", "JWT")
    file.why("auth", "Stateless.")
    file.why(
        "auth",
        "And cheap.",
        ["sessions", {"option": "basic", "reason": "weak"}],
        {"pros": ["fast"], "cons": "size"},
    )
    imported(file.close())
    decision = stored(apollo, "auth")
    assert decision.rationale == "And cheap.\n\nBefore that: Stateless."
    assert decision.alternatives == ["sessions", {"option": "basic", "why_not": "weak"}]
    assert decision.tradeoffs == {"pros": ["fast"], "cons": ["size"]}


def test_alternatives_and_tradeoffs_that_are_no_json_are_kept_as_text(
    apollo: Project, old_version: Callable[[int], OldFile]
) -> None:
    file = old_version(5)
    file.decision("auth", "JWT")
    file.why("auth", "Stateless.", "sessions, basic", "fast but large")
    imported(file.close())
    decision = stored(apollo, "auth")
    assert decision.alternatives == ["sessions, basic"]
    assert decision.metadata == {"tradeoffs": "fast but large"}


def test_an_invalid_reason_is_skipped_without_the_decision(
    apollo: Project, old_version: Callable[[int], OldFile]
) -> None:
    file = old_version(5)
    file.decision("auth", "JWT")
    file.why("auth", "x" * 70_000)
    report = imported(file.close())
    assert stored(apollo, "auth").rationale == ""
    assert report.counts["rationales"] == (0, 0, 1)


# -- Rows that already exist -----------------------------------------------------------------------


def test_an_existing_decision_is_not_overwritten(
    apollo: Project, ben: Caller, old: OldFile, take: Take
) -> None:
    set_decision(caller=ben, key="auth", value="sessions")
    set_decision(caller=ben, key="db", value="PostgreSQL")
    old.decision("auth", "JWT")
    old.past("auth", "basic")
    old.decision("db", "PostgreSQL", tags=["database"])
    report = take()
    assert report.counts["decisions"] == (0, 1, 1)
    assert "decisions (1): the key stands here with another value: 'auth'" in report.reasons
    assert stored(apollo, "auth").typed_value == "sessions"
    assert list(stored(apollo, "db").tags.all()) == []


def test_layers_tags_scopes_and_agents_match_in_any_case(
    apollo: Project, ben: Caller, old: OldFile, take: Take
) -> None:
    set_decision(caller=ben, key="here", value="v", tags=["Mine"], scopes=["Ours"])
    old.connection.execute("UPDATE m_layers SET name = 'Data' WHERE name = 'data'")
    old.decision("auth", agent="BEN", layer="Data", tags=["API", "mine"], scopes=["OURS"])
    take()
    decision = stored(apollo, "auth")
    assert (decision.agent and decision.agent.name, decision.layer and decision.layer.name) == ("ben", "data")
    assert sorted(decision.tags.values_list("name", flat=True)) == ["Mine", "api"]
    assert list(decision.scopes.values_list("name", flat=True)) == ["Ours"]


# -- Vocabulary and agents -------------------------------------------------------------------------


def test_a_layer_of_later_versions_is_added_where_it_is_used(
    apollo: Project, old_version: Callable[[int], OldFile]
) -> None:
    file = old_version(4)
    file.decision("plan", layer="planning")
    assert imported(file.close()).counts["layers"] == (1, 0, 0)
    layers = list(Layer.objects.in_project(apollo).order_by("position").values_list("name", flat=True))
    assert layers == ["presentation", "business", "data", "infrastructure", "cross-cutting", "planning"]


def test_a_custom_layer_of_sqlew_is_skipped(apollo: Project, old: OldFile, take: Take) -> None:
    old.insert("layers", name="own")
    old.decision("auth", layer="own")
    report = take()
    assert report.counts["layers"] == (0, 0, 1)
    assert stored(apollo, "auth").layer is None
    assert any("'own'" in reason for reason in report.reasons)


def test_unused_tags_and_scopes_are_imported(apollo: Project, old: OldFile, take: Take) -> None:
    old.insert("tags", name="idle")
    old.insert("scopes", name="module")
    assert take().counts == {"tags": (1, 0, 0), "scopes": (1, 0, 0)}
    assert Tag.objects.in_project(apollo).filter(name="idle").exists()
    assert Scope.objects.in_project(apollo).filter(name="module").exists()


def test_authors_become_agents_last_seen_at_their_last_decision(
    apollo: Project, ben: Caller, old: OldFile, take: Take
) -> None:
    set_decision(caller=ben, key="here", value="v")
    seen = Agent.objects.in_project(apollo).get(name="ben").last_seen_at
    old.insert("agents", name="idle")
    old.decision("a", agent="ada", at=THEN)
    old.decision("b", agent="ada", at=THEN + timedelta(hours=1))
    old.decision("c", agent="ben", at=THEN)
    take()
    agents = dict(Agent.objects.in_project(apollo).values_list("name", "last_seen_at"))
    assert agents["ada"] == THEN + timedelta(hours=1)
    assert agents["ben"] == seen
    assert "idle" not in agents, "who has done nothing registers when it comes"


def test_each_decision_and_the_import_record_an_event(apollo: Project, old: OldFile, take: Take) -> None:
    old.decision("a", at=THEN)
    old.decision("b", at=THEN)
    take()
    events = Event.objects.in_project(apollo).order_by("pk")
    assert [(e.noun, e.verb, e.ref) for e in events] == [
        ("decision", "created", "decision:a"),
        ("decision", "created", "decision:b"),
        ("hub", "imported", "hub:sqlew"),
    ]
    assert all(event.at > THEN for event in events), "the log tells when it came here"
    assert events[2].data["decisions"] == 2


# -- Invalid rows ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"key": "k", "value": "x" * 70_000}, "value has 70,000 bytes; the limit is 65,536"),
        ({"key": "k" * 201}, "key has 201 characters; the limit is 200"),
        ({"key": "  "}, "key must not be blank"),
        ({"key": "k", "value": f"ghp_{'a1B2' * 9}"}, "seems to hold a credential"),
        ({"key": "k", "value": "a\0b"}, "NUL"),
        ({"key": "k", "value": b"\xff"}, "half of a surrogate pair"),
        ({"key": "k", "value": float("inf")}, "value must be a finite number"),
        ({"key": "k", "version": "v" * 51}, "version has 51 characters; the limit is 50"),
        ({"key": "k", "status": 9}, "status: 9 is not known"),
    ],
)
def test_an_invalid_decision_is_skipped_with_the_reason(
    apollo: Project, old: OldFile, take: Take, row: dict[str, Any], reason: str
) -> None:
    old.decision(**row)
    old.decision("good")
    report = take()
    assert report.counts["decisions"] == (1, 0, 1)
    assert any(reason in line for line in report.reasons), report.reasons


def test_decisions_without_a_key_are_skipped_and_other_missing_fields_get_defaults(
    apollo: Project, old: OldFile, take: Take
) -> None:
    old.insert("decisions", key_id=99, value="lost")
    old.decision("auth", agent=None, version=None, status=None)
    report = take()
    assert report.counts["decisions"] == (1, 0, 1)
    assert "decisions (1): its key is missing: ''" in report.reasons
    found = find_decision(apollo.pk, "auth")
    assert found
    assert (found.version, found.status_label, found.agent) == ("1.0.0", "active", "system")


def test_an_invalid_revision_is_skipped_without_the_others(apollo: Project, old: OldFile, take: Take) -> None:
    old.decision("auth", "three")
    old.past("auth", "x" * 70_000, version="1.0.0")
    old.past("auth", "two", version="1.1.0")
    assert take().counts["revisions"] == (1, 0, 1)
    assert [v["value"] for v in list_versions(apollo.pk, "auth").objects()] == ["three", "two"]


def test_invalid_tags_scopes_and_agents_are_left_out_of_the_decision(
    apollo: Project, old: OldFile, take: Take
) -> None:
    many = [f"tag{n}" for n in range(51)]
    old.decision("auth", tags=["api", "x" * 101], scopes=["y" * 150])
    old.decision("busy", tags=many)
    old.decision("mine", agent=f"ghp_{'a1B2' * 9}")
    report = take()
    assert report.counts["decisions"] == (3, 0, 0)
    assert list(stored(apollo, "auth").tags.values_list("name", flat=True)) == ["api"]
    assert stored(apollo, "busy").tags.count() == 50
    assert stored(apollo, "mine").agent is None
    assert report.counts["scopes"] == (0, 0, 1)


def test_keys_that_differ_only_in_spaces_are_not_merged(apollo: Project, old: OldFile, take: Take) -> None:
    old.decision("auth", "JWT")
    old.decision(" auth ", "basic")
    report = take()
    assert report.counts["decisions"] == (1, 0, 1)
    assert stored(apollo, "auth").typed_value == "JWT"


def test_the_report_repeats_no_credential(old: OldFile, take: Take) -> None:
    secret = f"ghp_{'a1B2' * 9}"
    old.decision(f"key {secret}", agent=secret, tags=[secret])
    old.decision("other", agent=secret)
    old.constraint(f"Use {secret}")
    assert secret not in take().text


def test_equal_reasons_are_grouped(old: OldFile, take: Take) -> None:
    for n in range(7):
        old.decision(f"k{n}", "x" * (70_000 + n))
    [reason] = take().reasons
    assert reason.startswith("decisions (7): value has 70,000 bytes")
    assert reason.endswith("'k0', 'k1', 'k2', 'k3', 'k4' and 2 more")
