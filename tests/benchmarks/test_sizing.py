"""docs/sizing.md: the model adds up, the tables are those of the models, the load does what it says."""

import re
import socket
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks import texts
from benchmarks.channels import McpChannel, RestChannel
from benchmarks.figures import timing
from benchmarks.sizing import __main__ as command
from benchmarks.sizing.arithmetic import EVENT, WEIGHED, Measures, need, year_bytes
from benchmarks.sizing.calls import Agent
from benchmarks.sizing.distribution import LIST, PAGE, PROJECT, made, plan
from benchmarks.sizing.filling import agent_name
from benchmarks.sizing.loading import Load
from benchmarks.sizing.model import CALLS_AN_HOUR, IS_WRITE, USES, WRITES_AN_HOUR, Team, deck
from benchmarks.sizing.places import fill_places, in_place
from benchmarks.sizing.report import model_tables
from benchmarks.wire import Wire
from ctxhub import env
from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from memory.models import Decision
from tests.hub import LiveHub, RestClient

pytestmark = pytest.mark.one_engine


# -- The page --------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [PAGE, LIST], ids=lambda page: page.name)
def test_the_tables_of_keys_are_those_of_the_models(page: Path) -> None:
    text = page.read_text()
    run = "python -m benchmarks.sizing.distribution"
    assert fill_places(text, made(plan())[page]) == text, f"{run} writes them anew."


def test_the_tables_of_use_are_those_of_the_model() -> None:
    text = PAGE.read_text()
    assert fill_places(text, model_tables([Team(people) for people in command.SHOWN])) == text


def test_what_is_measured_has_its_place_and_is_there() -> None:
    text = PAGE.read_text()
    for name in ("machine", "load", "most", "memory", "bytes", "disk", "replica", "beyond"):
        assert in_place(text, name), name


def test_the_measured_teams_are_those_that_the_page_is_about() -> None:
    load = in_place(PAGE.read_text(), "load")
    rows = re.findall(r"^\| (\d+) \| (\w+) \|", load, re.MULTILINE)
    assert {*rows} == {(str(people), engine) for people in command.TEAMS for engine in ("sqlite", "postgres")}


def test_its_programs_exist() -> None:
    named = {*re.findall(r"python -m ([\w.]+)", PAGE.read_text() + LIST.read_text())}
    assert named
    assert [name for name in named if find_spec(name) is None] == []
    for words in re.findall(r"^python -m benchmarks\.sizing (.*)$", PAGE.read_text(), re.MULTILINE):
        command._parser().parse_args(words.split())


def test_its_files_and_metrics_exist() -> None:
    text = PAGE.read_text()
    files = re.findall(r"`((?:tests|benchmarks|docs)/[\w/.-]+)`", text)
    assert files
    assert [file for file in files if not (env.ROOT / file).exists()] == []
    watching = (env.ROOT / "docs" / "watching.md").read_text()
    assert [name for name in re.findall(r"`(ctxhub_\w+)`", text) if name not in watching] == []


# -- Places ----------------------------------------------------------------------------------------


def test_a_place_is_filled_and_the_rest_stays() -> None:
    page = "a\n<!-- x -->\nold\n<!-- end -->\nb\n<!-- y -->\n<!-- end -->\nc\n"
    filled = fill_places(page, {"x": "new", "y": "two\nlines"})
    assert filled == "a\n<!-- x -->\nnew\n<!-- end -->\nb\n<!-- y -->\ntwo\nlines\n<!-- end -->\nc\n"
    assert fill_places(filled, {"x": "new"}) == filled
    assert in_place(filled, "y") == "two\nlines"


@pytest.mark.parametrize("page", ["", "<!-- x -->\n", "<!-- x -->\n<!-- end -->\n<!-- x -->\n<!-- end -->\n"])
def test_a_page_without_the_place_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="places for x"):
        fill_places(page, {"x": "new"})


# -- The keys --------------------------------------------------------------------------------------


def test_tables_with_a_project_are_sharded_and_others_are_not() -> None:
    found = plan()
    names = {place.name for place in found.sharded}
    assert {"memory_decision", "core_event", "core_tag", "core_layer", "core_agent"} <= names
    assert names.isdisjoint(
        {"core_project", "auth_user", "core_accesstoken", "core_invitation", "core_import"}
    )


def test_keys_and_foreign_keys_are_told_apart() -> None:
    found = plan()
    places = {place.name: place for place in found.tables}
    decision, tag = places["memory_decision"], places["memory_decisiontag"]
    assert (decision.unique, decision.narrow) == ([(PROJECT, "key")], [])
    assert tag.narrow == [("decision_id", "tag_id")]
    assert {each.column for each in found.to_widen(tag)} == {"decision_id", "tag_id"}
    assert [each.column for each in found.to_widen(places["core_membership"])] == []
    assert [(place.name, each.column) for place, each in found.to_drop()] == [
        ("core_accesstoken", "agent_id")
    ]


# -- The model -------------------------------------------------------------------------------------


def test_an_hour_of_calls_is_dealt_out_whole() -> None:
    dealt = deck(3)
    assert len(dealt) == CALLS_AN_HOUR
    assert {name: dealt.count(name) for name in IS_WRITE} == {use.name: use.an_hour for use in USES}
    assert sum(IS_WRITE[name] for name in dealt) == WRITES_AN_HOUR


def test_a_team_is_its_agents() -> None:
    team = Team(100)
    assert (team.agents, team.projects) == (200, 10)
    assert team.calls_a_second == pytest.approx(200 * CALLS_AN_HOUR / 3600)
    month, year = team.rows(1), team.rows(12)
    assert year.decisions == 12 * month.decisions
    assert (year.changes, year.messages) == (month.changes, month.messages)  # They are removed by age.


def test_the_arithmetic_follows_the_measures() -> None:
    weights = dict.fromkeys([*WEIGHED, EVENT], 1_000)
    known = Measures(hub_cpu=5, database_cpu=1, worker_mib=200, wal_bytes=4_096, weights=weights)
    small, large = need(Team(100), known), need(Team(100_000), known)
    assert small.hub_cores == pytest.approx(Team(100).peak * 0.005 / 0.5)
    assert large.hub_cores == pytest.approx(1_000 * small.hub_cores)
    assert large.connections == 12 * large.workers
    rows = Team(100).rows(12)
    stored = rows.uses + rows.given + rows.accesses + rows.events - rows.decisions
    assert year_bytes(Team(100), weights) == pytest.approx(1_000 * stored)


# -- The load --------------------------------------------------------------------------------------


def test_the_hub_answers_each_call_of_the_model(hub: LiveHub, ben_rest: RestClient) -> None:
    token = create_token(project=Project.objects.get(slug="apollo"), scopes=["read", "write"]).secret
    for name in (agent_name(0), agent_name(1)):
        ben_rest.post("decisions/", {"key": f"from/{name}", "value": "v"}, {"Ctxhub-Agent": name})
    rest, mcp = RestChannel(hub.port, token, "apollo"), McpChannel(hub.port, token, Wire.INITIALIZED)
    agent = Agent(agent_name(0), rest, mcp, keys=1, others=2, random=Random(1))
    agent.prepare()
    wrong = [answer_to(agent, use.name) for use in USES]
    assert [each for each in wrong if each] == []
    assert agent.leases == []  # What was leased is released.
    assert Decision.objects.in_project(Project.objects.get(slug="apollo")).filter(key=texts.key(0)).exists()
    rest.close()
    mcp.close()


def answer_to(agent: Agent, use: str) -> str:
    agent.send(use)
    while (wrong := agent.receive()) is None:
        pass
    return wrong


class Stub(Agent):
    """It answers each call at once, through a pair of sockets."""

    def __init__(self) -> None:
        self.here, self.there = socket.socketpair()

    @property
    def channel(self) -> Any:
        return self.here

    def send(self, use: str) -> None:
        self.use = use
        self.there.sendall(b"x")

    def receive(self) -> str | None:
        self.here.recv(1)
        return "wrong" if self.use == "brief" else ""


@pytest.fixture
def stubs() -> Iterator[list[Agent]]:
    made = [Stub() for _ in range(3)]
    yield [*made]
    for each in made:
        each.here.close()
        each.there.close()


def test_a_rate_is_kept_and_what_is_wrong_is_counted(stubs: list[Agent]) -> None:
    answered = Load(stubs).at_rate(400, 0.5)
    assert 100 < answered.calls < 300
    assert answered.errors == ["wrong"] * len(answered.errors)
    assert len(answered.errors) == pytest.approx(answered.calls / CALLS_AN_HOUR, abs=1)


def test_without_pause_there_are_as_many_calls_as_clients(stubs: list[Agent]) -> None:
    answered = Load(stubs).without_pause(2, 0.3)
    assert answered.calls >= 2
    assert timing([answered.writes + answered.reads]).calls == answered.calls


class Never(Stub):
    def receive(self) -> str | None:
        self.here.recv(1)
        return None


def test_calls_without_an_answer_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.sizing.loading.LATE_SECONDS", 0.1)
    agent = Never()
    answered = Load([agent]).without_pause(1, 0.1)
    assert (answered.calls, answered.errors) == (0, ["a call was not answered"])
    agent.here.close()
    agent.there.close()
