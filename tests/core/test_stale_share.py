"""Where more than a third of a project's rows are stale, the mark lowers no rank, and a brief says so."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit import clock
from ctxhub.core.kit.answers import size
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import PathPattern, Project
from ctxhub.core.paths.counts import StaleShare
from ctxhub.core.paths.queries import Stale, Staleness, find_staleness
from ctxhub.core.search.search import search
from ctxhub.core.text.token_count import count_tokens
from ctxhub.toolbox.dispatch import call
from sessions.briefs.brief import SMALL_BUDGET, brief
from sessions.briefs.rows import Candidate, stale_note
from sessions.checks.check import check
from tests.core.stale import change
from tests.databases import take_statistics
from tests.hub import RestClient
from tests.query_plans import explained

pytestmark = pytest.mark.django_db

TASK = "rotate the JWT keys"


def write_decisions(caller: Caller, count: int, name: str = "key", **more: Any) -> list[str]:
    """Decisions that match the task less and less; each bears on one file and a folder."""
    items = [
        {
            "key": f"{name}{n}",
            "value": f"Rotate the JWT keys. {'More of it. ' * n}",
            "paths": [f"src/{name}{n}.py", f"src/{name}{n}/**"],
            **more,
        }
        for n in range(count)
    ]
    call(caller, "decision", {"action": "set_batch", "items": items})
    return [f"decision:{item['key']}" for item in items]


def make_stale(caller: Caller, refs: list[str]) -> None:
    change(caller, *(f"src/{ref.partition(':')[2]}.py" for ref in refs))


def ranked(caller: Caller, **more: Any) -> list[str]:
    """The refs of the decisions in a brief."""
    answer = call(caller, "brief", {"task": TASK, **more})
    return [row[0] for each in answer["sections"] if each["name"] == "decisions" for row in each["rows"]]


def said(caller: Caller, **more: Any) -> str | None:
    answer: dict[str, Any] = call(caller, "brief", {"task": TASK, **more})
    return answer.get("stale")


@pytest.mark.parametrize(("stale", "is_lowered"), [(2, True), (3, False)])
def test_a_brief_lowers_stale_rows_up_to_a_third(
    ada: Caller, ben: Caller, stale: int, is_lowered: bool
) -> None:
    write_decisions(ada, 6)
    order = ranked(ada)
    assert len(order) == 6
    make_stale(ben, order[:stale])
    assert ranked(ada) == ([*order[stale:], *order[:stale]] if is_lowered else order)


@pytest.mark.parametrize(("stale", "is_lowered"), [(2, True), (3, False)])
def test_a_search_lowers_stale_rows_up_to_a_third(
    ada: Caller, ben: Caller, stale: int, is_lowered: bool
) -> None:
    # Other words each: of near-equal statements the later one comes first.
    for number, word in enumerate(("apple", "boat", "city", "dog", "engine", "forest")):
        value = (
            f"Rotate the JWT keys. {' '.join(f'{word}{letter}' for letter in 'abcdefghijkl'[: 6 + number])}"
        )
        paths = [f"src/key{number}.py", f"src/key{number}/**"]
        call(ada, "decision", {"action": "set", "key": f"key{number}", "value": value, "paths": paths})

    def strengths() -> dict[str, float]:
        hits = search(ada.project_id, TASK, kinds=["decision"]).hits
        return {hit.ref: hit.ranked.strength for hit in hits}

    refs = list(strengths())[:stale]
    make_stale(ben, refs)
    found = strengths()
    call(ada, "hub", {"action": "confirm", "refs": refs})
    factors = [found[ref] / strengths()[ref] for ref in refs]
    assert factors == pytest.approx([0.85 if is_lowered else 1] * stale)


@pytest.mark.parametrize(("stale", "is_lowered"), [(2, True), (3, False)])
def test_a_check_lowers_stale_rows_up_to_a_third(
    ada: Caller, ben: Caller, stale: int, is_lowered: bool
) -> None:
    write_decisions(ada, 6)

    def scores() -> dict[str, float]:
        rows = check(caller=ada, paths=["src/**"]).sections["decisions"]
        return {row.ref: row.score for row in rows}

    before = scores()
    make_stale(ben, list(before)[:stale])
    factors = [scores()[ref] / before[ref] for ref in list(before)[:stale]]
    assert factors == pytest.approx([0.85 if is_lowered else 1] * stale)


@pytest.mark.parametrize(
    ("stale", "sentence"),
    [
        (0, None),
        (2, None),
        (3, "3 of 6 rows with paths are stale, so that the mark lowers no rank."),
        (6, "6 of 6 rows with paths are stale, so that the mark lowers no rank."),
    ],
)
def test_a_brief_says_it_in_one_line(ada: Caller, ben: Caller, stale: int, sentence: str | None) -> None:
    make_stale(ben, write_decisions(ada, 6)[:stale])
    assert said(ada) == sentence
    text = brief(caller=ada, task=TASK, is_text=True).text()
    assert [line for line in text.splitlines() if "lowers no rank" in line] == (
        [f"({sentence})"] if sentence else []
    )
    assert text.count("[stale: 1 change") == stale


def test_rest_says_it(ada: Caller, ben: Caller, ada_rest: RestClient) -> None:
    make_stale(ben, write_decisions(ada, 3)[:2])
    assert ada_rest.get("brief/", task=TASK).body["stale"].startswith("2 of 3 rows")


def test_the_sentence_is_short() -> None:
    sentence = "123,456 of 234,567 rows with paths are stale, so that the mark lowers no rank."
    assert count_tokens(f'"stale": "{sentence}",') <= 30


@pytest.mark.parametrize(("number", "says"), [(1, True), (2, False)])
def test_a_brief_without_stale_rows_says_nothing(number: int, says: bool) -> None:
    """Though the project is full of them, and one did not fit."""
    stale = Staleness({("memory", 1): Stale(1, clock.now())}, StaleShare(8, 9))
    row = Candidate("memories", "memory:1", lambda _: "text", "ada", "", 1.0, key=("memory", number))
    assert bool(stale_note(stale, [row])) == says


@pytest.mark.parametrize("budget", [60, 100, 149, 150, 151, 160, 170, 180, 200, 250, 400, 800])
@pytest.mark.parametrize("is_text", [False, True])
def test_the_budget_holds(ada: Caller, ben: Caller, budget: int, is_text: bool) -> None:
    make_stale(ben, write_decisions(ada, 9))
    found = brief(caller=ada, task=TASK, budget_tokens=budget, is_text=is_text, mail=3)
    answer = found.answer()
    tokens = count_tokens(found.text()) if is_text else size(answer)
    assert tokens <= budget
    has_mark = any("[stale: " in row.text for rows in found.rows().values() for row in rows)
    assert bool(found.stale_note()) == (has_mark and budget >= SMALL_BUDGET)
    assert is_text or answer["tokens"] == tokens


# -- The share -------------------------------------------------------------------------------------


def share(caller: Caller) -> StaleShare:
    """As found for the first stale row."""
    row = PathPattern.objects.in_project(caller.project_id).filter(stale__gt=0)[0]
    return find_staleness(caller.project_id, [(row.kind, row.object_id)]).share


def test_rows_of_all_kinds_are_counted_that_are_in_force_and_have_paths(
    ada: Caller, ben: Caller, cy: Caller
) -> None:
    write_decisions(ada, 2)
    paths = {"paths": ["docs/**", "src/**"]}
    call(ada, "memory", {"action": "add", "title": "m", "content": "c", **paths})
    call(ada, "constraint", {"action": "add", "category": "c", "text": "with", **paths})
    call(ada, "constraint", {"action": "add", "category": "c", "text": "everywhere"})
    call(ada, "constraint", {"action": "add", "category": "c", "text": "scoped", "scopes": ["api"]})
    call(ada, "decision", {"action": "set", "key": "without", "value": 1})
    call(ada, "decision", {"action": "set", "key": "old", "value": 1, **paths})
    call(ada, "decision", {"action": "deprecate", "key": "old"})
    write_decisions(cy, 9)
    change(ben, "docs/a.md")
    assert share(ada) == StaleShare(2, 4)
    assert share(ada).is_large


def test_rows_are_counted_no_further_than_they_matter(ada: Caller, ben: Caller) -> None:
    make_stale(ben, write_decisions(ada, 20)[:1])
    assert share(ada) == StaleShare(1, 3)
    assert not share(ada).is_large


def test_another_project_does_not_matter(ada: Caller, ben: Caller, cy: Caller) -> None:
    make_stale(ben, write_decisions(ada, 6)[:2])
    make_stale(Caller(project=cy.project, agent="dan"), write_decisions(cy, 3))
    assert said(ada) is None
    assert said(cy) == "3 of 3 rows with paths are stale, so that the mark lowers no rank."


@pytest.mark.parametrize(
    ("tool", "arguments"), [("brief", {"task": TASK}), ("search", {"query": TASK, "kinds": ["decision"]})]
)
def test_it_takes_no_statement_more(ada: Caller, ben: Caller, tool: str, arguments: dict[str, Any]) -> None:
    refs = write_decisions(ada, 6)
    change(ben, "docs/a.md")  # A brief reads who made the changes that it shows.

    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            call(ada, tool, arguments)
        return len(queries)

    found = [statements()]
    for stale in (2, 6):
        make_stale(ben, refs[:stale])
        found.append(statements())
    assert found == [found[0]] * 3


def test_both_counts_are_read_from_indexes(ada: Caller, apollo: Project) -> None:
    patterns = (
        PathPattern(
            project=apollo,
            kind="memory",
            object_id=n,
            position=place,
            pattern="a",
            stale=not (n or place),
        )
        for n in range(3_000)
        for place in range(2)
    )
    PathPattern.unscoped.bulk_create(patterns, batch_size=1_000)
    PathPattern.unscoped.filter(stale=1).update(stale_since="2026-11-23T10:00:00Z")
    take_statistics()
    with CaptureQueriesContext(connection) as queries:
        assert find_staleness(apollo.pk, [("memory", 0)]).share == StaleShare(1, 3)
    plan = explained(queries.captured_queries[0]["sql"])
    assert "core_pathpattern_first" in plan
    assert "core_pathpattern_stale" in plan
