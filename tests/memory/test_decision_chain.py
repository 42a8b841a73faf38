"""The chain of a decision's predecessors and successors, and its numbers over time, on its page."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from ctxhub.console.graphs.step_chart import step_chart
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.decisions.models import Decision
from memory.decisions.services import deprecate_decision, set_decision
from tests.people import member

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, username="vi")


def page(client: Client, row_id: int) -> str:
    return client.get(f"/admin/memory/decision/{row_id}/").content.decode()


def chain(text: str) -> list[str]:
    """The keys of the chain in their order; that of the page itself in brackets."""
    found = re.search(r'<ol class="ctx-chain">(.*?)</ol>', text, re.DOTALL)
    shown = re.findall(r'<(a|strong) class="[^"]*ctx-mono"[^>]*>([^<]+)<', found[1]) if found else []
    return [f"({key})" if tag == "strong" else key for tag, key in shown]


def make(caller: Caller, *keys: str) -> dict[str, int]:
    return {key: set_decision(caller=caller, key=key, value=f"of {key}")["id"] for key in keys}


def test_a_decision_shows_what_came_before_and_after_it(client: Client, ada: Caller) -> None:
    ids = make(ada, "a", "b", "c", "d", "e", "beside")
    for old, new in (("a", "c"), ("b", "c"), ("c", "d"), ("d", "e")):
        deprecate_decision(caller=ada, key=old, superseded_by=new)
    assert chain(page(client, ids["d"])) == ["a", "b", "c", "(d)", "e"]
    assert chain(page(client, ids["a"])) == ["(a)", "c", "d", "e"]
    assert "of c" in page(client, ids["d"])
    assert chain(page(client, ids["beside"])) == []


def test_a_circle_of_successors_ends(client: Client, ada: Caller) -> None:
    ids = make(ada, "a", "b")
    for key, other in (("a", "b"), ("b", "a")):  # The services refuse it.
        Decision.objects.in_project(ada.project).filter(key=key).update(superseded_by=ids[other])
    assert sorted(chain(page(client, ids["a"]))) == ["(a)", "b"]


def test_a_decision_with_many_predecessors_shows_50_of_them(client: Client, ada: Caller) -> None:
    ids = make(ada, "new", *(f"old/{number:02}" for number in range(60)))
    for number in range(60):
        deprecate_decision(caller=ada, key=f"old/{number:02}", superseded_by="new")
    text = page(client, ids["new"])
    assert len(chain(text)) == 51
    assert "There are more, which are not shown." in text


def test_another_projects_decisions_are_in_no_chain(client: Client, ada: Caller, cy: Caller) -> None:
    make(cy, "a", "b")
    deprecate_decision(caller=cy, key="a", superseded_by="b")
    assert chain(page(client, make(ada, "b")["b"])) == []


def test_a_number_is_drawn_over_time_with_its_statistics(client: Client, ada: Caller) -> None:
    for value in (10, 30, 20):
        row_id = set_decision(caller=ada, key="pool/size", value=value)["id"]
    text = page(client, row_id)
    assert "The number over time" in text
    figures = dict(re.findall(r"<dt>([^<]+)</dt><dd>([\d.]+)</dd>", text))
    assert figures == {
        "values": "3",
        "lowest": "10",
        "highest": "30",
        "mean": "20",
        "median": "20",
        "95th percentile": "29",
    }
    assert text.count("<circle") == 3


@pytest.mark.parametrize("values", [[5], ["10", "20"], [10, "many"]])
def test_texts_and_a_single_number_are_not_drawn(
    values: list[int | str], client: Client, ada: Caller
) -> None:
    for value in values:
        row_id = set_decision(caller=ada, key="pool/size", value=value)["id"]
    assert "The number over time" not in page(client, row_id)


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ([10, 30, 20], ["10", "15", "20", "25", "30"]),
        ([-3, 4], ["-4", "-2", "0", "2", "4"]),
        ([7, 7], ["6", "6.5", "7", "7.5", "8"]),
        ([0, 0], ["-1", "-0.5", "0", "0.5", "1"]),
        ([0.001, 0.0035], ["0.001", "0.002", "0.003", "0.004"]),
        ([1e300, 9e300], ["0", "2e+300", "4e+300", "6e+300", "8e+300", "1e+301"]),
    ],
)
def test_levels_are_round_numbers(values: list[float], levels: list[str]) -> None:
    moments = [(NOW + timedelta(days=day), value) for day, value in enumerate(values)]
    chart = step_chart("x", moments, NOW + timedelta(days=9))
    assert chart
    assert [level.text for level in chart.levels] == levels
    assert all(chart.levels[-1].at <= point.y <= chart.levels[0].at for point in chart.lines[0].points)


def test_each_value_holds_until_the_next_one() -> None:
    moments = [(NOW, 10.0), (NOW + timedelta(days=5), 20.0)]
    chart = step_chart("x", moments, NOW + timedelta(days=10))
    assert chart
    first, second = chart.lines[0].points
    assert chart.lines[0].path == (f"M{first.x:g} {first.y:g}H{second.x:g}V{second.y:g}H{chart.right:g}")
    assert second.x == (first.x + chart.right) / 2


@pytest.mark.parametrize("values", [[-1.7e308, 1.7e308], [1e16, 1e16 + 2], [5e-324, 1e-323]])
def test_what_cannot_be_drawn_is_left_out(values: list[float]) -> None:
    moments = [(NOW + timedelta(days=day), value) for day, value in enumerate(values)]
    assert step_chart("x", moments, NOW + timedelta(days=9)) is None
