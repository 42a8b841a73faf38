"""Checks: which rows bear on paths and why, in which order, and when the paths are clear."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from memory.constraints.services import add_constraint, deactivate_constraint
from memory.decisions.services import deprecate_decision, set_decision
from memory.memories.services import add_memory
from tests.sessions.briefs import check
from tracking.changes.services import record_change
from tracking.leases.services import acquire_lease, release_leases

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def rule(caller: Caller, text: str = "Rule.", *paths: str, **rest: Any) -> str:
    """Add a constraint of a layer, so that it holds everywhere only if a test says so; returns its ref."""
    arguments = {"category": "c", "layer": "business", "text": text, "paths": list(paths), **rest}
    return f"constraint:{add_constraint(caller=caller, **arguments)['id']}"


def decide(caller: Caller, key: str, *paths: str, **rest: Any) -> str:
    set_decision(caller=caller, key=key, value=f"About {key}.", paths=list(paths), **rest)
    return f"decision:{key}"


def whys(caller: Caller, section: str, *paths: str, **arguments: Any) -> dict[str, str]:
    """Why each row of a section bears on the paths, by ref."""
    answer = check(caller, *paths, **{"budget_tokens": 20_000, **arguments})
    return {row[0]: row[-1] for row in answer.get(section, {"rows": []})["rows"]}


def ago(minutes: float) -> time_machine.travel:
    return time_machine.travel(datetime.now(UTC) - timedelta(minutes=minutes))


# -- Shape -----------------------------------------------------------------------------------------


@time_machine.travel(NOON, tick=False)
def test_a_check_has_a_list_of_each_kind(ada: Caller, ben: Caller) -> None:
    constraint = rule(ben, "Round last.", "src/**", priority="high")
    decide(ben, "price", "src/shop/*.py")
    lease = acquire_lease(caller=ben, paths=["src/shop/**"], minutes=30, reason="Rework.")["lease_id"]
    change = record_change(caller=ben, path="src/shop/price.py", change="modified", description="Cents.")[
        "id"
    ]
    columns, at = ["ref", "text", "by", "at", "why"], "2026-11-21T12:00:00Z"
    with time_machine.travel(NOON + timedelta(minutes=12), tick=False):
        answer = check(ada, "src/shop/price.py")
    assert answer == {
        "clear": False,
        "constraints": {
            "columns": columns,
            "rows": [[constraint, "Round last.", "ben", at, "path src/**"]],
            "count": 1,
        },
        "decisions": {
            "columns": columns,
            "rows": [["decision:price", "About price.", "ben", at, "path src/shop/*.py"]],
            "count": 1,
        },
        "leases": {
            "columns": columns,
            "rows": [[f"lease:{lease}", "exclusive: src/shop/** (Rework.)", "ben", at, "until 12:30Z"]],
            "count": 1,
        },
        "changes": {
            "columns": columns,
            "rows": [[f"change:{change}", "src/shop/price.py: Cents.", "ben", at, "modified 12 min ago"]],
            "count": 1,
        },
    }


def test_empty_lists_are_left_out(ada: Caller) -> None:
    assert check(ada, "src/a.py") == {"clear": True}


# -- Reasons: paths --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "path", "bears"),
    [
        ("src/api/**", "src/api/login.py", True),
        ("src/api/**", "src/api/v1/login.py", True),
        ("src/api/**", "src/apiary.py", False),
        ("src/api/", "src/api/login.py", True),
        ("src/api/*.py", "src/api/login.py", True),
        ("src/api/*.py", "src/api/v1/login.py", False),
        ("src/*/login.py", "src/api/login.py", True),
        ("**/login.py", "src/api/login.py", True),
        ("**/login.py", "login.py", True),
        ("**", "any/thing", True),
        ("src/api/login.py", "src/api/login.py", True),
        ("src/api/login.py", "src/api/LOGIN.py", False),
        ("src/api/login.py", "src/api", False),
        ("src/api/login.py", "src/api/", True),
        ("src/api/login.py", "src/**", True),
        ("src/api/login.py", "**/*.py", True),
        ("src/api/login.py", "**/*.sql", False),
        ("src/*.py", "src/log*", True),
        ("src/api/**", "docs/**", False),
        ("app/[id]/page.tsx", "app/[id]/page.tsx", True),
        ("src/l?gin.py", "src/login.py", True),
        ("src/größe.py", "src/größe.py", True),
    ],
)
def test_a_glob_bears_on_what_it_matches_or_overlaps(
    pattern: str, path: str, bears: bool, ada: Caller, ben: Caller
) -> None:
    ref, key = rule(ben, "Rule.", pattern), decide(ben, "k", pattern)
    expected = f"path {pattern.rstrip('/')}"
    found = {**whys(ada, "constraints", path), **whys(ada, "decisions", path)}
    assert {name: why.rstrip("/") for name, why in found.items()} == (
        {ref: expected, key: expected} if bears else {}
    )


def test_each_of_the_paths_counts(ada: Caller, ben: Caller) -> None:
    refs = [rule(ben, f"Rule {n}.", f"src/{n}/**") for n in range(3)]
    assert set(whys(ada, "constraints", "src/0/a.py", "src/2/a.py")) == {refs[0], refs[2]}


def test_the_most_specific_reason_is_told(ada: Caller, ben: Caller) -> None:
    ref = rule(ben, "Rule.", "**", "src/**", "src/api/**", "src/*/login.py", scopes=["api"])
    assert whys(ada, "constraints", "src/api/login.py") == {ref: "path src/api/**"}


@pytest.mark.parametrize(
    "path", [r"src\api\login.py", "./src/api/login.py", "src//api/./login.py", " src/api/login.py "]
)
def test_notations_of_a_path_are_one(path: str, ada: Caller, ben: Caller) -> None:
    ref = rule(ben, "Rule.", "src/api/**")
    record_change(caller=ben, path="src/api/login.py", change="modified")
    assert list(whys(ada, "constraints", path)) == [ref]
    assert check(ada, path)["clear"] is False


# -- Reasons: scopes, everywhere, intent -----------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "path", "bears"),
    [
        ("api", "src/api/login.py", True),
        ("API", "src/api/login.py", True),
        ("api", "SRC/API/login.py", True),
        ("login", "src/api/login.py", True),
        ("Login", "src/api/login.test.py", True),
        ("src/api", "src/api/login.py", True),
        ("api/v1", "src/api/v1/login.py", True),
        ("src/api", "src/api", True),
        ("src/v1", "src/api/v1/login.py", False),
        ("log", "src/api/login.py", False),
        ("login.py", "src/api/login.py", False),
        ("api", "src/apis/login.py", False),
        ("api", "src/api/**", True),
        ("api", "src/api/", True),
        ("api", "src/a*/login.py", False),
        (".github", ".github/ci.yml", True),
        ("größe", "src/GRÖSSE/a.py", True),
        ("api/login", "src/api/login.py", True),
        ("a/b/c/d", "a/b/c/d/e.py", True),
    ],
)
def test_a_scope_is_a_folder_or_the_stem_of_a_file(
    scope: str, path: str, bears: bool, ada: Caller, ben: Caller
) -> None:
    ref, key = rule(ben, "Rule.", scopes=[scope]), decide(ben, "k", scopes=[scope])
    assert whys(ada, "constraints", path) == ({ref: f"scope {scope}"} if bears else {})
    assert whys(ada, "decisions", path) == ({key: f"scope {scope}"} if bears else {})


def test_a_constraint_with_neither_layer_scope_nor_paths_holds_everywhere(ada: Caller, ben: Caller) -> None:
    ref = rule(ben, "Everywhere.", layer=None)
    for where in ({"layer": "data"}, {"scopes": ["api"]}, {"paths": ["docs/**"]}):
        rule(ben, f"{where}", **{"layer": None, **where})
    decide(ben, "k")
    assert whys(ada, "constraints", "any.py") == whys(ada, "constraints", "src/**") == {ref: "everywhere"}
    assert whys(ada, "decisions", "any.py") == {}


def test_an_intent_adds_the_five_best_matches(ada: Caller, ben: Caller) -> None:
    for number in range(4):
        rule(ben, f"Limit the logins {number}.")
        decide(ben, f"login/limit{number}")
    decide(ben, "ui/color")
    found = {
        **whys(ada, "constraints", "a.py", intent="limit logins"),
        **whys(ada, "decisions", "a.py", intent="limit logins"),
    }
    assert len(found) == 5
    assert all(why.startswith("intent .") or why == "intent 1.00" for why in found.values())
    assert whys(ada, "decisions", "a.py", intent=" ") == {}


def test_a_path_is_a_better_reason_than_an_intent(ada: Caller, ben: Caller) -> None:
    ref = rule(ben, "Limit the logins.", "src/**")
    assert whys(ada, "constraints", "src/a.py", intent="limit logins") == {ref: "path src/**"}


def test_what_is_not_in_force_bears_on_nothing(ada: Caller, ben: Caller) -> None:
    gone = rule(ben, "Gone.", "src/**", scopes=["src"])
    deactivate_constraint(caller=ben, constraint_id=int(gone.partition(":")[2]))
    for key, status in (("old", "active"), ("draft", "draft")):
        decide(ben, key, "src/**", scopes=["src"], status=status)
    deprecate_decision(caller=ben, key="old")
    add_memory(caller=ben, title="About old", content="c", paths=["src/**"])
    assert check(ada, "src/a.py", intent="gone, about old") == {"clear": True}


# -- Clear -----------------------------------------------------------------------------------------


def test_an_exclusive_lease_of_another_agent_is_in_the_way(ada: Caller, ben: Caller) -> None:
    acquire_lease(caller=ben, paths=["src/**"])
    assert [check(who, "src/a.py")["clear"] for who in (ada, ben)] == [False, True]
    assert check(ada, "docs/a.md") == check(ada, "srcs/a.py") == {"clear": True}
    assert check(Caller(ada.project, "BEN"), "src/a.py") == {"clear": True}
    release_leases(caller=ben, all=True)
    assert check(ada, "src/a.py") == {"clear": True}


def test_a_lease_that_ended_is_not(ada: Caller, ben: Caller) -> None:
    with ago(31):
        acquire_lease(caller=ben, paths=["src/**"], minutes=30)
    assert check(ada, "src/a.py") == {"clear": True}


def test_a_shared_lease_is_named_and_not_in_the_way(ada: Caller, ben: Caller) -> None:
    acquire_lease(caller=ben, paths=["src/**"], exclusive=False)
    answer = check(ada, "src/a.py")
    assert answer["clear"] is True
    assert answer["leases"]["rows"][0][1] == "shared: src/**"


def test_a_lease_overlaps_globs(ada: Caller, ben: Caller) -> None:
    acquire_lease(caller=ben, paths=["src/*/login.py"])
    for path, is_clear in (("src/**", False), ("**/*.py", False), ("src/api/", False), ("src/*.py", True)):
        assert check(ada, path)["clear"] is is_clear, path


@pytest.mark.parametrize(("minutes", "is_clear"), [(1, False), (59, False), (61, True)])
def test_a_change_by_another_agent_within_an_hour_is(
    minutes: int, is_clear: bool, ada: Caller, ben: Caller
) -> None:
    with ago(minutes):
        record_change(caller=ben, path="src/a.py", change="deleted")
    for path in ("src/a.py", "src/*", "src/"):
        assert check(ada, path)["clear"] is is_clear
        found = list(whys(ada, "changes", path).values())
        assert found == ([] if is_clear else [f"deleted {minutes} min ago"])
    assert check(ada, "src/b.py") == check(ben, "src/a.py") == {"clear": True}


def test_the_last_change_of_each_file_is_named_newest_first(ada: Caller, ben: Caller) -> None:
    for minutes, path in ((50, "src/a.py"), (40, "src/b.py"), (30, "src/a.py"), (20, "src/own.py")):
        with ago(minutes):
            record_change(caller=ada if "own" in path else ben, path=path, change="modified")
    rows = check(ada, "src/**")["changes"]["rows"]
    assert [(row[1], row[-1]) for row in rows] == [
        ("src/a.py", "modified 30 min ago"),
        ("src/b.py", "modified 40 min ago"),
    ]


def test_rules_leave_the_paths_clear(ada: Caller, ben: Caller) -> None:
    rule(ben, "Never edit this.", "src/**", priority="critical")
    assert check(ada, "src/a.py")["clear"] is True


# -- Order and limits ------------------------------------------------------------------------------


def test_what_names_the_path_comes_before_what_holds_everywhere(ada: Caller, ben: Caller) -> None:
    low = rule(ben, "low", "src/api/login.py", priority="low")
    everywhere = rule(ben, "everywhere", layer=None, priority="high")
    scope = rule(ben, "scope", scopes=["api"], priority="high")
    deep_scope = rule(ben, "deep scope", scopes=["src/api"], priority="high")
    wide = rule(ben, "wide", "src/**", priority="high")
    widest = rule(ben, "widest", "**/*.py", priority="high")
    exact = rule(ben, "exact", "src/api/login.py", priority="high")
    critical = rule(ben, "critical", layer=None, priority="critical")
    assert list(whys(ada, "constraints", "src/api/login.py")) == (
        [critical, exact, low, wide, widest, deep_scope, scope, everywhere]
    )


@pytest.mark.parametrize("budget", [300, 800])
def test_the_rule_of_the_folder_stands_among_many_of_everywhere(
    budget: int, ada: Caller, ben: Caller
) -> None:
    for number in range(30):
        for priority in ("critical", "high"):
            text = f"Rule {number} holds wherever you are, and is explained at some length here."
            rule(ben, text, layer=None, priority=priority)
    exact = rule(ben, "Ask the owners of the api.", "src/api/**", priority="low")
    named = whys(ada, "constraints", "src/api/login.py", budget_tokens=budget)
    assert named[exact] == "path src/api/**"
    assert 1 < len(named) < 20


def test_what_holds_everywhere_comes_by_priority_then_by_the_intent(ada: Caller, ben: Caller) -> None:
    others = [rule(ben, f"Buttons {number} are blue.", layer=None) for number in range(3)]
    asked = rule(ben, "Tokens are never logged.", layer=None)
    newer = [rule(ben, f"Links {number} are green.", layer=None) for number in range(3)]
    high = rule(ben, "Deploys are announced.", layer=None, priority="high")
    matched = rule(ben, "Logged requests have no token.", scopes=["elsewhere"])
    found = whys(ada, "constraints", "src/api/login.py", intent="log the tokens")
    assert list(found) == [high, asked, *newer[::-1], *others[::-1], matched]
    assert found[matched].startswith("intent ")


def test_each_lease_that_is_in_the_way_is_told_if_need_be_with_few_words(ada: Caller, ben: Caller) -> None:
    for number in range(4):
        reason = f"Rework {number}: " + "everything that there is to say about it, " * 8
        acquire_lease(caller=ben, paths=[f"src/{number}/**"], reason=reason)
    answer = check(ada, "src/**", budget_tokens=330)
    assert not answer["clear"]
    assert len(answer["leases"]["rows"]) == 4
    assert "omitted" not in answer


def test_equal_ones_come_newest_first(ada: Caller, ben: Caller) -> None:
    refs = []
    for minutes in (3, 2, 1):
        with ago(minutes):
            refs.append((rule(ben, f"{minutes}", "src/**"), decide(ben, f"k{minutes}", "src/**")))
    assert list(whys(ada, "constraints", "src/a")) == [constraint for constraint, _ in refs[::-1]]
    assert list(whys(ada, "decisions", "src/a")) == [decision for _, decision in refs[::-1]]


def test_a_section_has_twenty_rows_and_counts_the_rest(ada: Caller, ben: Caller) -> None:
    for number in range(23):
        rule(ben, f"Rule {number}.", "src/**")
        decide(ben, f"k{number}", "src/**")
        acquire_lease(caller=ben, paths=["src/**", f"lib/{number}"], exclusive=False)
        record_change(caller=ben, path=f"src/{number}.py", change="modified")
    answer = check(ada, "src/**", budget_tokens=20_000)
    sections = ("constraints", "decisions", "leases", "changes")
    assert [len(answer[name]["rows"]) for name in sections] == [20] * 4
    assert answer["omitted"] == dict.fromkeys(sections, 3)


def test_what_a_small_budget_leaves_out_is_counted(ada: Caller, ben: Caller) -> None:
    for number in range(15):
        rule(ben, f"A rule with the number {number}.", "src/**")
    acquire_lease(caller=ben, paths=["src/**"])
    answer = check(ada, "src/a.py", budget_tokens=250)
    rows = answer["constraints"]["rows"]
    assert 0 < len(rows) == 15 - answer["omitted"]["constraints"] < 15
    assert len(answer["leases"]["rows"]) == 1


def test_fifty_paths_are_checked_and_51_refused(ada: Caller, ben: Caller) -> None:
    acquire_lease(caller=ben, paths=["src/49.py"])
    assert check(ada, *(f"src/{number}.py" for number in range(50)))["clear"] is False
    with pytest.raises(InvalidInput, match="51 entries; the limit is 50"):
        check(ada, *(f"src/{number}.py" for number in range(51)))


def test_the_longest_paths_are_checked(ada: Caller, ben: Caller) -> None:
    """Many deep paths have more scopes than a statement has values."""
    rule(ben, "Rule.", scopes=["a49"])
    paths = [f"{'/'.join(f'a{(n + m) % 120}' for m in range(240))}/x" for n in range(50)]
    assert len(whys(ada, "constraints", *paths)) == 1


@pytest.mark.parametrize(
    "paths",
    [[], [""], ["/etc/passwd"], ["../x"], ["a/../b"], ["C:\\x"], ["a\x00b"], ["x" * 1_001], ["."], [5]],
)
def test_bad_paths_are_refused(paths: list[Any], ada: Caller) -> None:
    with pytest.raises(InvalidInput, match="paths"):
        check(ada, *paths)


# -- Queries ---------------------------------------------------------------------------------------


def test_queries_do_not_grow_with_rows(ada: Caller, ben: Caller) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as captured:
            check(ada, "src/api/**", "lib/a.py", intent="rules of logins", budget_tokens=20_000)
        return len(captured)

    def fill(first: int, end: int) -> None:
        for number in range(first, end):
            dee = Caller(ben.project, f"dee{number}")
            rule(dee, f"Rules of logins {number}.", "src/**", f"lib/{number}", scopes=["api"], tags=["t"])
            decide(dee, f"login/{number}", "src/api/*", scopes=["api", f"s{number}"])
            acquire_lease(caller=dee, paths=[f"src/api/{number}/**"], exclusive=False)
            record_change(caller=dee, path=f"src/api/{number}.py", change="modified")

    fill(0, 1)
    count()
    few = count()
    fill(1, 30)
    assert count() == few <= 20
