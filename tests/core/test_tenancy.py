"""A stranger with another project's keys, refs, ids and cursors: nothing of it exists, whatever they call."""

import json
from typing import Any

import pytest

from ctxhub.core.caller import Caller
from ctxhub.core.errors import CtxhubError
from ctxhub.core.models import Layer, Project
from ctxhub.core.selectors.events import latest_cursor
from ctxhub.core.toolbox.dispatch import call
from ctxhub.core.toolbox.registry import all_tools
from memory.models import Decision
from memory.services.decisions import deprecate_decision, set_decision
from tests.tables import dump_project

Call = tuple[dict[str, Any], dict[str, Any]]

KEY = "moon/landing"
SECRETS = ("moonshot", "eagle", "tranquility", "armstrong")

NOT_FOUND = {"error": "not_found"}
NOTHING = {"count": 0}
OWN = {"result": "created", "version": "1.0.0"}

# What cy asks of each action, with everything apollo's that it takes; and what the answer holds.
CALLS: dict[str, list[Call]] = {
    "decision.set": [
        ({"key": KEY, "value": "x"}, OWN),
        ({"key": KEY, "value": "x", "tags": ["eagle"], "scopes": ["tranquility"]}, OWN),
        ({"key": KEY, "value": "x", "layer": "armstrong-layer"}, {"error": "invalid"}),
        ({"key": KEY, "value": "x", "expected_version": "1.0.1"}, {"error": "conflict"}),
        ({"key": KEY, "value": "x", "agent": "armstrong"}, OWN),
    ],
    "decision.set_batch": [
        (
            {"items": [{"key": KEY, "value": "x"}, {"key": "moon/old", "value": "y"}]},
            {"done": 2, "failed": 0},
        ),
    ],
    "decision.quick_set": [({"key": KEY, "value": 1}, OWN)],
    "decision.get": [
        ({"key": KEY}, {"found": False, "similar": []}),
        ({"key": KEY, "include": ["rationale", "history", "links"]}, {"found": False, "similar": []}),
        ({"key": "moon/landin"}, {"found": False, "similar": []}),
    ],
    "decision.list": [
        ({"status": "any"}, {"count": 1}),
        ({"tags": ["eagle"]}, NOTHING),
        ({"scope": "tranq*"}, NOTHING),
        ({"by": "armstrong"}, NOTHING),
        ({"since": "EVENT"}, {"count": 1}),
        ({"status": "any", "cursor": "CURSOR"}, NOTHING),
        ({"layer": "armstrong-layer"}, {"error": "invalid"}),
    ],
    "decision.versions": [({"key": KEY}, NOTHING)],
    "decision.deprecate": [
        ({"key": KEY}, NOT_FOUND),
        ({"key": "own", "superseded_by": KEY}, NOT_FOUND),
    ],
    "decision.delete": [({"key": KEY}, NOT_FOUND)],
    "get": [
        (
            {"refs": [f"decision:{KEY}", "decision:ID"]},
            {"items": [], "missing": [f"decision:{KEY}", "decision:ID"]},
        ),
        ({"refs": [f"decision:{KEY}"], "detail": "digest"}, {"items": []}),
    ],
    "hub.stats": [({}, {"decisions": [1, 1], "scopes": 0, "agents": 1})],
    "hub.activity": [
        ({"agents": ["armstrong"]}, NOTHING),
        ({"verbs": ["deprecated"], "since": "e0"}, NOTHING),
        ({"cursor": "ACTIVITY", "verbs": ["deprecated"]}, NOTHING),
    ],
    "hub.updates": [({"since": "e0"}, {"cursor": "OWN EVENT"}), ({}, {"cursor": "OWN EVENT"})],
    "hub.layer_summary": [({}, {"count": 5})],
    "hub.wait": [({"since": "e0", "wait_seconds": 0}, {"cursor": "OWN EVENT"})],
    "hub.view": [({"name": "layer_summary"}, {"count": 5})],
    "hub.clear": [
        ({"dry_run": True}, {"error": None}),
        ({"messages_older_than": "0s", "changes_older_than": "0s"}, {"error": None}),
    ],
    "hub.config": [({}, {"message_hours": 24})],
    "hub.config_set": [({"values": {"message_hours": 48}}, {"message_hours": 48})],
    "hub.agents": [({}, {"count": 1})],
    "hub.vocabulary": [({}, {"scopes": {}})],
}


@pytest.fixture
def theirs(apollo: Project) -> dict[str, str]:
    """Apollo's data: words of its own in every field, and what leads to them."""
    armstrong = Caller(project=apollo, agent="armstrong")
    for value in ("moonshot", "moonshot again"):
        set_decision(
            caller=armstrong,
            key=KEY,
            value=value,
            tags=["eagle"],
            scopes=["tranquility/base"],
            rationale="moonshot",
            metadata={"moonshot": 1},
        )
    set_decision(caller=armstrong, key="moon/old", value="moonshot")
    deprecate_decision(caller=armstrong, key="moon/old", superseded_by=KEY)
    Layer.objects.create(project=apollo, name="armstrong-layer", position=9)
    page = call(armstrong, "decision", {"action": "list", "status": "any", "limit": 1, "order": "asc"})
    activity = call(armstrong, "hub", {"action": "activity", "limit": 1})
    return {
        "ID": str(Decision.objects.in_project(apollo).get(key=KEY).pk),
        "EVENT": str(latest_cursor(apollo.pk)),
        "CURSOR": page["next"],
        "ACTIVITY": activity["next"],
    }


def test_every_action_is_walked() -> None:
    actions = {action.call for tool in all_tools().values() for action in tool.actions.values()}
    assert set(CALLS) == actions


@pytest.mark.parametrize("name", CALLS)
def test_another_projects_things_do_not_exist(
    apollo: Project, cy: Caller, theirs: dict[str, str], name: str
) -> None:
    set_decision(caller=cy, key="own", value="x")
    theirs = {**theirs, "OWN EVENT": str(latest_cursor(cy.project_id))}
    before = dump_project(apollo)
    for arguments, expected in CALLS[name]:
        asked, told = filled(arguments, theirs), filled(expected, theirs)
        answer = asking(cy, name, asked)
        assert {key: answer.get(key) for key in told} == told, answer
        said = json.dumps(answer).lower()
        assert not [word for word in SECRETS if word in said and word not in json.dumps(asked)]
        assert dump_project(apollo) == before
        Decision.objects.in_project(cy.project).exclude(key="own").delete()


def asking(caller: Caller, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    tool, _, action = name.partition(".")
    try:
        return call(caller, tool, {**arguments, **({"action": action} if action else {})})
    except CtxhubError as error:
        return error.body()


def filled(node: Any, theirs: dict[str, str]) -> Any:
    """The call with apollo's own ids and cursors in place of their names."""
    text = json.dumps(node)
    for name, value in theirs.items():
        text = text.replace(f'"{name}"', f'"{value}"').replace(f":{name}", f":{value}")
    return json.loads(text)


def test_two_projects_keep_the_same_key_apart(ada: Caller, cy: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="ours", tags=["shared"])
    set_decision(caller=cy, key=KEY, value="theirs", tags=["shared"])
    for caller, value in ((ada, "ours"), (cy, "theirs")):
        answer = call(caller, "decision", {"action": "list", "tags": ["shared"]})
        assert [row[1] for row in answer["rows"]] == [value]


def test_a_request_id_belongs_to_one_project(ada: Caller, cy: Caller) -> None:
    for caller in (ada, cy):
        said = {"action": "set", "key": KEY, "value": "x", "agent": "same"}
        assert call(caller, "decision", said, request_id="r-1")["result"] == "created"
