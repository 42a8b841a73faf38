"""The mark of an agent: its own, the same everywhere, told by more than its colour, seen in both themes."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Project
from ctxhub.core.templatetags.agent_marks import (
    COLOURS,
    DISC,
    TILE,
    forget_marks,
    mark_at,
    mark_of,
    mark_of_name,
)
from ctxhub.core.templatetags.agents import link_to_agent, named_link
from ctxhub.toolbox.dispatch import call
from tests.hostile import HOSTILE
from tests.people import VIEWER, member

CSS = Path("ctxhub/static/ctxhub/admin.css").read_text()
# The grounds that names stand on: the page and a row below the pointer, light and dark.
GROUNDS = {"": ("ffffff", "f1f5f9"), ".dark ": ("0f172a", "1f2937")}


@pytest.fixture
def many(apollo: Project) -> list[Agent]:
    """Thirteen agents and, among those of another project, a person."""
    return [Agent.objects.create(project=apollo, name=f"agent-{n}") for n in range(COLOURS + 1)]


def test_the_first_twelve_differ_in_colour_and_in_figure() -> None:
    first = [mark_at(place, is_person=False) for place in range(COLOURS)]
    assert len({mark.colour for mark in first}) == len({mark.path for mark in first}) == COLOURS


def test_the_first_144_differ() -> None:
    assert len({mark_at(place, is_person=False) for place in range(144)}) == 144


def test_a_person_has_a_mark_of_another_kind() -> None:
    agent, human = mark_at(3, is_person=False), mark_at(3, is_person=True)
    assert agent.path.startswith(TILE)
    assert human.path.startswith(DISC)


@pytest.mark.django_db
def test_agents_count_from_the_first_in_each_project(ada: Caller, cy: Caller) -> None:
    for caller in (ada, cy):
        call(caller, "decision", {"action": "set", "key": "k", "value": "v"})
    marks = {
        mark_of(pk)
        for pk in Agent.unscoped.filter(name__in=(ada.agent, cy.agent)).values_list("pk", flat=True)
    }
    assert marks == {mark_at(0, is_person=False)}


@pytest.mark.django_db
def test_a_mark_stays_when_others_join(many: list[Agent], apollo: Project) -> None:
    before = [mark_of(agent.pk) for agent in many]
    Agent.objects.create(project=apollo, name="a newer one, first by name")
    forget_marks()
    assert [mark_of(agent.pk) for agent in many] == before


@pytest.mark.django_db
def test_who_turns_out_to_be_a_person_gets_another_mark(many: list[Agent]) -> None:
    before = mark_of(many[3].pk)
    Agent.unscoped.filter(pk=many[3].pk).update(kind=Agent.Kind.HUMAN)
    forget_marks()
    assert before == mark_at(3, is_person=False)
    assert mark_of(many[3].pk) == mark_at(3, is_person=True)


@pytest.mark.django_db
def test_an_agent_is_found_by_its_name_in_its_project(many: list[Agent], apollo: Project, cy: Caller) -> None:
    assert mark_of_name(apollo.pk, "AGENT-2") == mark_of(many[2].pk)
    assert mark_of_name(cy.project_id, "agent-2") is None


@pytest.mark.django_db
def test_one_statement_draws_all_marks_and_others_none(
    many: list[Agent], django_assert_num_queries: Callable[..., CaptureQueriesContext]
) -> None:
    with django_assert_num_queries(1):
        assert all(mark_of(agent.pk) for agent in many)
    with django_assert_num_queries(0):
        assert all(mark_of(agent.pk) for agent in many)
        assert mark_of(None) is None


@pytest.mark.django_db
def test_who_is_not_remembered_is_looked_for_once(
    many: list[Agent], apollo: Project, django_assert_num_queries: Callable[..., CaptureQueriesContext]
) -> None:
    assert mark_of(many[0].pk)
    newer = Agent.objects.create(project=apollo, name="newer")
    with django_assert_num_queries(1):
        assert [mark_of(newer.pk) for _ in range(3)] == [mark_at(len(many), is_person=False)] * 3
    with django_assert_num_queries(1):
        assert [mark_of(10**9) for _ in range(3)] == [None] * 3


@pytest.mark.django_db
def test_a_name_is_escaped_beside_its_mark(many: list[Agent]) -> None:
    for name in HOSTILE:
        html = named_link("ctx-actor", name, many[0].pk, shown=name)
        assert re.findall(r"<(\w+)", html) == ["a", "svg", "path"]
        assert 'aria-hidden="true"' in html
    assert "<svg" not in link_to_agent("system", None)


@pytest.mark.django_db
def test_the_same_agent_has_the_same_mark_on_each_page(ada: Caller, ben: Caller, apollo: Project) -> None:
    for caller in (ada, ben):
        call(caller, "decision", {"action": "set", "key": f"{caller.agent}/k", "value": "v"})
    client = member(apollo, VIEWER)
    agent = Agent.objects.in_project(apollo.pk).get(name=ben.agent)
    mark = mark_of(agent.pk)
    pages = [
        f"/admin/core/agent/{agent.pk}/change/",
        "/admin/core/agent/?project=apollo",
        "/admin/core/event/?project=apollo",
        "/admin/core/event/agents/?project=apollo",
        "/admin/core/event/timeline/?project=apollo",
        "/admin/memory/decision/?project=apollo",
    ]
    for page in pages:
        html = client.get(page).content.decode()
        drawn = re.findall(
            r'class="ctx-agent-mark (ctx-colour-\d+)".*?<path d="([^"]+)"/></svg>([^<]*)', html
        )
        assert mark
        assert {(css, path) for css, path, name in drawn if name.strip() == ben.agent} == {
            (mark.css_class, mark.path)
        }, page


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", GROUNDS)
def test_marks_are_seen_on_the_ground_of_each_theme(theme: str) -> None:
    colours = re.findall(rf"^{re.escape(theme)}\.ctx-colour-\d+ {{ color: #(\w{{6}}); }}", CSS, re.MULTILINE)
    assert len(set(colours)) == COLOURS
    for colour in colours:
        for ground in GROUNDS[theme]:
            low, high = sorted([luminance(colour), luminance(ground)])
            assert (high + 0.05) / (low + 0.05) >= 3
