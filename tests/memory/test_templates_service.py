"""Template services: setting and listing templates, making decisions from them."""

import itertools
import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict, InvalidInput, NotAllowed, NotFound
from ctxhub.core.models import Event, Layer
from ctxhub.core.text.patterns import PROGRAM_SIZE
from memory.decisions.queries import find_decision
from memory.decisions.rows import DecisionRow
from memory.decisions.services import deprecate_decision, set_decision
from memory.models import Decision, DecisionTemplate
from memory.templates.queries import find_templates, get_template, list_templates
from memory.templates.rules import TEMPLATES
from memory.templates.services import (
    change_template,
    delete_template,
    replace_template,
    set_from_template,
    set_template,
)
from tests.query_plans import explained, plan_by_indexes
from tests.timing import within_cpu_seconds

AWS_KEY = "AKIA" + "Q7LM2XWY4NPR5TVB"

pytestmark = pytest.mark.usefixtures("index_is_kept")

INCIDENT: dict[str, Any] = {
    "defaults": {"layer": "infrastructure", "tags": ["incident"], "status": "draft"},
    "require": ["rationale", "severity"],
    "patterns": {"severity": "^(low|high)$"},
}
ARGUMENTS: dict[str, Any] = {"key": "k", "value": "x", "rationale": "So.", "metadata": {"severity": "low"}}


@pytest.fixture
def incident(ada: Caller) -> Caller:
    set_template(caller=ada, name="Incident", **INCIDENT)
    return ada


def names(caller: Caller, **query: Any) -> list[str]:
    return [row[0] for row in list_templates(caller.project_id, **query).rows]


def row_of(caller: Caller, key: str = "k") -> DecisionRow:
    row = find_decision(caller.project_id, key)
    assert row
    return row


def refused(caller: Caller, **arguments: Any) -> InvalidInput:
    before = Decision.objects.in_project(caller.project).count()
    with pytest.raises(InvalidInput) as raised:
        set_from_template(caller=caller, **arguments)
    assert Decision.objects.in_project(caller.project).count() == before
    return raised.value


# -- Set -------------------------------------------------------------------------------------------


def test_a_template_is_stored_as_set(incident: Caller) -> None:
    template = get_template(incident.project_id, "incident")
    assert (template.name, template.origin) == ("Incident", "own")
    assert (template.defaults, template.require, template.patterns) == (
        INCIDENT["defaults"],
        INCIDENT["require"],
        INCIDENT["patterns"],
    )


def test_omitted_fields_stay_and_null_clears(incident: Caller) -> None:
    assert set_template(caller=incident, name="INCIDENT", require=["rationale"]) == {
        "name": "Incident",
        "result": "updated",
    }
    template = get_template(incident.project_id, "Incident")
    assert (template.defaults, template.require) == (INCIDENT["defaults"], ["rationale"])
    set_template(caller=incident, name="incident", defaults=None, require=[], patterns={})
    template = get_template(incident.project_id, "Incident")
    assert (template.defaults, template.require, template.patterns) == ({}, [], {})


def test_setting_the_same_template_changes_nothing(incident: Caller) -> None:
    assert set_template(caller=incident, name="incident", **INCIDENT)["result"] == "unchanged"
    assert set_template(caller=incident, name="incident")["result"] == "unchanged"
    assert Event.objects.in_project(incident.project).filter(noun="template").count() == 1


def test_every_change_leaves_an_event(incident: Caller, ben: Caller) -> None:
    set_template(caller=ben, name="incident", require=[])
    delete_template(caller=ben, name="incident")
    events = Event.objects.in_project(ben.project).order_by("pk").values_list("verb", "ref", "agent__name")
    assert list(events) == [
        ("created", "template:Incident", "ada"),
        ("updated", "template:Incident", "ben"),
        ("deleted", "template:Incident", "ben"),
    ]
    assert Event.objects.in_project(ben.project).get(verb="updated").data == {"changed": ["require"]}


def test_setting_a_built_in_name_copies_and_overrides_it(ada: Caller) -> None:
    assert set_template(caller=ada, name="breaking_change", require=["rationale"])["result"] == "created"
    template = get_template(ada.project_id, "breaking_change")
    built_in = TEMPLATES["breaking_change"]
    assert (template.require, template.origin) == (["rationale"], "own")
    assert (template.defaults, template.patterns) == (built_in.defaults, built_in.patterns)
    assert names(ada).count("breaking_change") == 1
    delete_template(caller=ada, name="breaking_change")
    assert get_template(ada.project_id, "breaking_change") == built_in


def test_replacing_clears_omitted_fields(incident: Caller) -> None:
    replace_template(caller=incident, name="incident", require=["cause"])
    template = get_template(incident.project_id, "incident")
    assert (template.defaults, template.require, template.patterns) == ({}, ["cause"], {})


def test_an_unknown_template_cannot_be_changed(incident: Caller) -> None:
    assert change_template(caller=incident, name="incident", require=[])["result"] == "updated"
    assert change_template(caller=incident, name="deprecation", require=["cause"])["result"] == "created"
    with pytest.raises(NotFound):
        change_template(caller=incident, name="nothing", require=[])


def test_a_built_in_template_cannot_be_deleted(ada: Caller) -> None:
    with pytest.raises(NotAllowed):
        delete_template(caller=ada, name="deprecation")
    with pytest.raises(NotFound):
        delete_template(caller=ada, name="nothing")


DEFAULTS = [
    ({"tags": "one", "version": 2}, {"tags": ["one"], "version": "2"}),
    ({"alternatives": "sessions"}, {"alternatives": ["sessions"]}),
    ({"status": 3, "layer": "DATA"}, {"status": "draft", "layer": "data"}),
    ({"tags": ["A", "a"], "scopes": [], "rationale": "", "layer": None}, {"tags": ["A"]}),
    (
        {"metadata": {"a": 1, "b": None}, "tradeoffs": {"pros": ["x"], "cons": None}},
        {"metadata": {"a": 1}, "tradeoffs": {"pros": ["x"]}},
    ),
]


@pytest.mark.parametrize(("defaults", "stored"), DEFAULTS)
def test_defaults_are_normalised(ada: Caller, defaults: dict[str, Any], stored: dict[str, Any]) -> None:
    set_template(caller=ada, name="t", defaults=defaults)
    assert get_template(ada.project_id, "t").defaults == stored


BAD: list[dict[str, Any]] = [
    {"name": " "},
    {"name": "x" * 201},
    {"name": AWS_KEY},
    {"defaults": {"key": "k"}},
    {"defaults": {"value": 1}},
    {"defaults": {"expected_version": "1.0.0"}},
    {"defaults": {"rational": "x"}},
    {"defaults": {"layer": "nowhere"}},
    {"defaults": {"layer": ["data"]}},
    {"defaults": {"tags": [1]}},
    {"defaults": {"tags": {"a": 1}}},
    {"defaults": {"tags": [str(n) for n in range(51)]}},
    {"defaults": {"status": "gone"}},
    {"defaults": {"status": True}},
    {"defaults": {"paths": ["/etc"]}},
    {"defaults": {"alternatives": [5]}},
    {"defaults": {"tradeoffs": {"pro": []}}},
    {"defaults": {"metadata": "x"}},
    {"defaults": {"rationale": "x" * 70_000}},
    {"defaults": {"rationale": AWS_KEY}},
    {"require": ["x" * 101]},
    {"require": [str(n) for n in range(51)]},
    {"patterns": {"a": "("}},
    {"patterns": {"a": r"(?=x)"}},
    {"patterns": {"a": r"(x)\1"}},
    {"patterns": {"a": "(((a{1,100}){1,100}){1,100})"}},
    {"patterns": {"a": "[^x]{1,1000}"}},
    {"patterns": {"a": "x" * 1_001}},
    {"patterns": {"a": 5}},
    {"patterns": {" ": "x"}},
    {"patterns": {str(n): "x" for n in range(51)}},
]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: str(bad)[:40])
def test_bad_input_is_refused_and_writes_nothing(ada: Caller, bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        set_template(caller=ada, **{"name": "t", **bad})
    assert not DecisionTemplate.objects.in_project(ada.project).exists()
    assert not Event.objects.in_project(ada.project).exists()


def test_an_error_suggests_or_explains_the_correction(ada: Caller) -> None:
    with pytest.raises(InvalidInput) as raised:
        set_template(caller=ada, name="t", defaults={"rational": "x"})
    assert raised.value.details["did_you_mean"] == "rationale"
    with pytest.raises(InvalidInput, match=r"patterns: that of 'cve' is no regular expression: missing \)"):
        set_template(caller=ada, name="t", patterns={"cve": "("})


def test_an_administrator_may_store_a_credential(ada: Caller) -> None:
    admin = Caller(project=ada.project, agent="ada", keeps_secrets=True)
    set_template(caller=admin, name="t", defaults={"rationale": AWS_KEY})
    assert "credential" in refused(ada, name="t", key="k", value="x").message


# -- List ------------------------------------------------------------------------------------------


def test_own_and_built_in_templates_are_listed_by_name(incident: Caller) -> None:
    set_template(caller=incident, name="Zeta")
    set_template(caller=incident, name="adr")
    assert names(incident) == [
        *("adr", "architecture_decision", "breaking_change", "deprecation", "Incident"),
        *("performance_optimization", "security_vulnerability", "Zeta"),
    ]
    rows = {row[0]: row for row in list_templates(incident.project_id).rows}
    assert rows["Incident"][1:] == [*INCIDENT.values(), "own"]
    assert rows["deprecation"][1]["tags"] == ["deprecation"]
    assert rows["deprecation"][4] == "built-in"


def test_pages_hold_each_template_once(incident: Caller) -> None:
    for name in ("deprecation", "a", "z", "Ä", "数据"):
        set_template(caller=incident, name=name)
    found, cursor = [], None
    for _ in range(10):
        page = list_templates(incident.project_id, limit=1, cursor=cursor)
        found += [row[0] for row in page.rows]
        cursor = page.next
    assert cursor is None
    assert found == names(incident)
    assert len(found) == len(set(found)) == 10


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 201}, {"cursor": "x"}, {"cursor": "WzFd"}])
def test_invalid_list_arguments_are_refused(ada: Caller, query: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        list_templates(ada.project_id, **query)


def test_a_template_is_visible_only_in_its_project(incident: Caller, cy: Caller) -> None:
    assert "Incident" not in names(cy)
    with pytest.raises(NotFound) as raised:
        get_template(cy.project_id, "Incident")
    assert raised.value.details["allowed"] == list(TEMPLATES)


# -- Decisions from a template ---------------------------------------------------------------------


def test_a_decision_takes_the_defaults(incident: Caller) -> None:
    answer = set_from_template(caller=incident, name="incident", **ARGUMENTS)
    row = row_of(incident)
    assert answer == {"key": "k", "id": row.id, "version": "1.0.0", "result": "created"}
    assert (row.layer, row.tags, row.status_label) == ("infrastructure", ["incident"], "draft")
    assert (row.rationale, row.metadata, row.agent) == ("So.", {"severity": "low"}, "ada")


def test_arguments_override_the_defaults_and_tags_are_merged(incident: Caller) -> None:
    arguments = {**ARGUMENTS, "layer": "data", "tags": ["api", "INCIDENT"], "status": "active"}
    set_from_template(caller=incident, name="incident", **arguments)
    row = row_of(incident)
    assert (row.layer, row.status_label, row.tags) == ("data", "active", ["api", "incident"])


def test_metadata_is_merged_with_the_defaults(incident: Caller) -> None:
    set_template(caller=incident, name="incident", defaults={"metadata": {"team": "x", "severity": "high"}})
    set_from_template(caller=incident, name="incident", **ARGUMENTS)
    assert row_of(incident).metadata == {"team": "x", "severity": "low"}
    set_from_template(caller=incident, name="incident", key="j", value=1, rationale="So.")
    assert row_of(incident, "j").metadata == {"team": "x", "severity": "high"}


def test_a_default_can_be_cleared(incident: Caller) -> None:
    set_from_template(caller=incident, name="incident", **ARGUMENTS, layer=None)
    assert row_of(incident).layer is None


def test_an_existing_decision_is_updated_by_the_arguments(incident: Caller) -> None:
    set_decision(caller=incident, key="k", value="old", paths=["src/**"], metadata={"ticket": 1})
    answer = set_from_template(caller=incident, name="incident", **ARGUMENTS, expected_version="1.0.0")
    assert (answer["version"], answer["result"]) == ("1.0.1", "updated")
    row = row_of(incident)
    assert (row.paths, row.metadata) == (["src/**"], {"ticket": 1, "severity": "low"})
    with pytest.raises(Conflict):
        set_from_template(caller=incident, name="incident", **ARGUMENTS, expected_version="1.0.0")


def test_missing_required_fields_are_named(incident: Caller) -> None:
    error = refused(incident, name="incident", key="k", value="x", rationale="  ", metadata={"severity": ""})
    assert error.details["missing"] == ["rationale", "severity"]
    assert error.hint == "In metadata: 'severity'."


@pytest.mark.parametrize("severity", ["medium", "LOW", "lowest", 5, ["low"], True])
def test_a_value_that_does_not_match_is_refused(incident: Caller, severity: Any) -> None:
    arguments = {**ARGUMENTS, "metadata": {"severity": severity}}
    error = refused(incident, name="incident", **arguments)
    assert "severity" in error.message
    assert "^(low|high)$" in error.message


@pytest.mark.parametrize(
    ("pattern", "value", "fits"),
    [
        (r"\d", "p95 is 5", True),
        (r"^\d+$", "p95 is 5", False),
        (r"^\d+$", 5, True),
        (r"^5\.5$", 5.5, True),
        (r"^true$", True, True),
        (r'"b"', ["a", "b"], True),
        (r'^\{"a":1\}$', {"a": 1}, True),
        (r"^é+$", "éé", True),
        (r"^a$", "a\n", False),
        (r"x", "", True),
        (r"x", None, True),
    ],
)
def test_a_pattern_matches_anywhere_in_the_value(ada: Caller, pattern: str, value: Any, fits: bool) -> None:
    set_template(caller=ada, name="t", patterns={"field": pattern})
    arguments: dict[str, Any] = {"name": "t", "key": "k", "value": "v", "metadata": {"field": value}}
    if fits:
        assert set_from_template(caller=ada, **arguments)["result"] == "created"
    else:
        refused(ada, **arguments)


@pytest.mark.parametrize("field", ["key", "value", "rationale", "layer", "version", "status"])
def test_patterns_apply_to_arguments_too(ada: Caller, field: str) -> None:
    set_template(caller=ada, name="t", patterns={field: "^never$"}, require=[field])
    arguments = {
        "key": "k",
        "value": "v",
        "rationale": "r",
        "layer": "data",
        "version": "1",
        "status": "draft",
    }
    assert f"{field} '{arguments[field]}' has to match" in refused(ada, name="t", **arguments).message


def test_an_unknown_template_is_not_found_and_known_ones_are_named(incident: Caller) -> None:
    with pytest.raises(NotFound) as raised:
        set_from_template(caller=incident, name="incidents", **ARGUMENTS)
    assert raised.value.details["did_you_mean"] == "Incident"
    assert set(raised.value.details["allowed"]) == {*TEMPLATES, "Incident"}


def test_a_deleted_layer_is_dropped_from_built_in_templates_only(incident: Caller) -> None:
    Layer.objects.in_project(incident.project).filter(name="infrastructure").delete()
    arguments: dict[str, Any] = {"alternatives": ["none"], "tradeoffs": {"pros": ["x"]}, "rationale": "So."}
    set_from_template(caller=incident, name="architecture_decision", key="k", value="x", **arguments)
    assert row_of(incident).layer is None
    set_template(caller=incident, name="architecture_decision", require=[])
    assert "layer" not in get_template(incident.project_id, "architecture_decision").defaults
    assert "layer: 'infrastructure' is not known" in refused(incident, name="incident", **ARGUMENTS).message


def test_an_invalid_template_from_the_orm_is_refused_on_use(ada: Caller) -> None:
    DecisionTemplate.objects.create(project=ada.project, name="a", patterns={"key": "("})
    DecisionTemplate.objects.create(project=ada.project, name="b", defaults={"nonsense": 1})
    assert "is no regular expression" in refused(ada, name="a", key="k", value="x").message
    assert "defaults" in refused(ada, name="b", key="k", value="x").message


# -- Built-in templates ----------------------------------------------------------------------------

REASONS: dict[str, Any] = {"rationale": "Upgrade.", "alternatives": ["none"], "tradeoffs": {"pros": ["x"]}}
CVE = {"cve_id": "CVE-2026-12345", "severity": "High"}
BUILT_IN: list[tuple[str, dict[str, Any], list[str], str]] = [
    ("breaking_change", REASONS, ["breaking"], "business"),
    ("security_vulnerability", {"metadata": CVE}, ["security", "vulnerability"], "infrastructure"),
    ("performance_optimization", {}, ["performance"], "business"),
    ("deprecation", {}, ["deprecation"], "business"),
    ("architecture_decision", REASONS, ["adr", "architecture"], "infrastructure"),
]


@pytest.mark.parametrize(("name", "arguments", "tags", "layer"), BUILT_IN)
def test_each_built_in_template_can_be_used(
    ada: Caller, name: str, arguments: dict[str, Any], tags: list[str], layer: str
) -> None:
    set_from_template(caller=ada, name=name, key="k", value="x", **arguments)
    assert (row_of(ada).tags, row_of(ada).layer) == (tags, layer)


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("breaking_change", {}),
    ("breaking_change", {**REASONS, "rationale": "It was time."}),
    ("breaking_change", {**REASONS, "alternatives": []}),
    ("security_vulnerability", {"metadata": {"severity": "high"}}),
    ("security_vulnerability", {"metadata": {**CVE, "cve_id": "CVE-26-1"}}),
    ("security_vulnerability", {"metadata": {**CVE, "severity": "bad"}}),
    ("architecture_decision", {**REASONS, "tradeoffs": {}}),
    ("architecture_decision", {**REASONS, "tradeoffs": {"pros": None}}),
]


@pytest.mark.parametrize(("name", "arguments"), REFUSED)
def test_each_built_in_template_requires_its_fields(
    ada: Caller, name: str, arguments: dict[str, Any]
) -> None:
    refused(ada, name=name, key="k", value="x", **arguments)


def test_a_breaking_change_may_name_the_migration_in_its_value(ada: Caller) -> None:
    arguments = {**REASONS, "rationale": "It was time.", "value": "v2; migrate with tools/v2.py"}
    assert set_from_template(caller=ada, name="breaking_change", key="k", **arguments)["result"] == "created"


# -- Performance -----------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", [r"(x+x+)+y", r"(a*)*b", r"(\w+\s?)+$9", r"(.*a){12}q", r"(a?){200}b"])
def test_no_pattern_takes_long(ada: Caller, pattern: str) -> None:
    set_template(caller=ada, name="t", patterns={"value": pattern})
    with within_cpu_seconds(2):
        for letter in "ax":
            refused(ada, name="t", key="k", value=letter * 65_000)


def test_the_error_names_the_size_limit_of_a_pattern(ada: Caller) -> None:
    with pytest.raises(InvalidInput, match=f"the limit is {PROGRAM_SIZE:,}"):
        set_template(caller=ada, name="t", patterns={"value": ".{1000}"})


def test_queries_do_not_grow_with_templates(ada: Caller) -> None:
    new = itertools.count(1)

    def count() -> list[int]:
        counted = []
        for run in (
            lambda: list_templates(ada.project_id, limit=5),
            lambda: set_template(caller=ada, name="t0", require=[str(next(new))]),
            lambda: set_from_template(caller=ada, name="deprecation", key="k", value=next(new)),
            lambda: find_templates(ada.project_id, [f"t{n}" for n in range(60)]),
        ):
            with CaptureQueriesContext(connection) as queries:
                run()
            counted.append(len(queries))
        return counted

    for n in range(3):
        set_template(caller=ada, name=f"t{n}")
    count()
    few = count()
    for n in range(3, 60):
        set_template(caller=ada, name=f"t{n}")
    assert count() == few


@pytest.mark.parametrize("cursor", [False, True])
def test_a_page_is_read_from_the_index(ada: Caller, cursor: bool) -> None:
    DecisionTemplate.objects.in_project(ada.project).bulk_create(
        DecisionTemplate(project=ada.project, name=f"t{n}", folded=f"t{n}") for n in range(500)
    )
    after = list_templates(ada.project_id, limit=5).next if cursor else None
    with CaptureQueriesContext(connection) as queries:
        assert len(list_templates(ada.project_id, limit=5, cursor=after).rows) == 5
    [query] = queries.captured_queries
    plan_by_indexes()
    plan = explained(query["sql"])
    index = "memory_one_template_per_name|sqlite_autoindex_memory_decisiontemplate_1"
    assert len(re.findall(index, plan)) == 2, plan


# -- Deprecated decisions --------------------------------------------------------------------------


def test_a_template_does_not_revive_a_deprecated_decision(ada: Caller) -> None:
    set_decision(caller=ada, key="k", value="x")
    deprecate_decision(caller=ada, key="k", reason="Old.")
    answer = set_from_template(caller=ada, name="deprecation", key="k", value="y")
    assert "revives" in answer["hint"]
    assert row_of(ada).status_label == "deprecated"
