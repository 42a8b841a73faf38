"""Every action of the tools, over MCP and under `call/` of REST, for everybody who may ask."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from ctxhub.core.accounts.access_tokens import authenticate
from ctxhub.core.kit.caller import READ
from ctxhub.core.registry import Deletion, all_nouns
from ctxhub.mcp.requests import Request, Surface
from ctxhub.rest.errors import STATUS
from ctxhub.toolbox.actions import Action, all_tools
from tests.core.test_nulls import minimal_arguments
from tests.databases import rolled_back
from tests.roles.asking import Told, Wrong, answered, compare_with_nothing, is_refused, without_a_trace
from tests.roles.people import Asker
from tests.roles.world import World

Json = dict[str, Any]

ACTIONS = [action for tool in all_tools().values() for action in tool.actions.values()]
# A number that may only grow, so that no row gets lost unnoticed.
AT_LEAST = 118

# Actions on what one agent holds: who may call them is told whose it is, and others get no further.
OF_ADA = {
    "file.renew": "a lease is its holder's",
    "file.release": "a lease is its holder's, but for an administrator's `force`",
}
# Actions that need another scope besides their own.
ALSO = {"session.restore": (READ, "it answers what was saved")}
# What a signed-in person who may only read does of the operations for readers: the other examples are not
# addressed to them. tests/messaging/test_viewers.py asks for those that are.
READERS_MAY = {"message.read": "their own mail", "message.ack": "what is addressed to everyone"}


def is_for_reader(asker: Asker, operation: str) -> bool:
    return operation in READERS_MAY and asker.user is not None and asker.may(READ)


@dataclass(frozen=True)
class Call:
    """A call that does something in apollo. Any of `scopes` allows it, `of_others` to others than ada."""

    action: Action
    arguments: Json
    scopes: tuple[str, ...]
    of_others: str = ""

    def __str__(self) -> str:
        return f"{self.action.call} {self.arguments}"

    def may(self, asker: Asker) -> bool:
        if is_for_reader(asker, self.action.call):
            return True
        also, _ = ALSO.get(self.action.call, ("", ""))
        scopes = (self.of_others,) if self.of_others and not asker.is_ada else self.scopes
        return any(map(asker.may, scopes)) and (not also or asker.may(also))


def calls(world: World) -> Iterator[Call]:
    """Of every action one, and a second one where a dry run needs less; of `delete` one for each kind."""
    for action in ACTIONS:
        if action.call == "delete":
            yield from deletions(action, world)
            continue
        ids = {**world.ids, "message": world.ids["request"]}
        arguments = minimal_arguments(action.call, ids)
        for given in (arguments, {**arguments, "dry_run": True}) if action.dry_scope else (arguments,):
            yield Call(action, given, (action.scope_of(given), action.or_scope))


def deletions(action: Action, world: World) -> Iterator[Call]:
    names = {**world.ids, "scratchpad": world.ids["pad"], "decision": "k", "context": "shop"}
    for noun in all_nouns():
        if isinstance(noun.deletion, Deletion):
            refs = {"refs": [f"{noun.kind}:{names[noun.kind]}"]}
            yield Call(action, refs, (noun.deletion.scope,), noun.deletion.others_scope)
            yield Call(action, {**refs, "dry_run": True}, (READ,))


def over_mcp(asker: Asker, call: Call) -> Told:
    """The answer to `tools/call`, with the status that REST would give."""
    action = {"action": call.action.name} if call.action.name else {}
    speaking = {"agent": asker.agent} if asker.agent else {}
    params = {"name": call.action.tool, "arguments": {**call.arguments, **action, **speaking}}
    result = answered(Request("tools/call", params, "2025-11-25", authenticate(asker.token), Surface()))
    body: Json = json.loads(result["content"][0]["text"])
    assert result["isError"] == ("error" in body)
    status = STATUS[body["error"]] if "error" in body else 200
    return status, body


def over_rest(asker: Asker, call: Call) -> Told:
    names = "/".join(filter(None, (call.action.tool, call.action.name)))
    speaking = {"agent": asker.agent} if asker.agent else {}
    reply = asker.client.post(
        f"/api/v1/projects/apollo/call/{names}/",
        {**call.arguments, **speaking},
        content_type="application/json",
        headers=asker.headers,
    )
    assert (reply.status_code == 401) == ("WWW-Authenticate" in reply.headers)
    return reply.status_code, reply.json()


Ask = Callable[[Asker, Call], Told]
FACES = [pytest.param(over_mcp, id="mcp"), pytest.param(over_rest, id="rest")]


def askers_of(ask: Ask, world: World) -> Sequence[Asker]:
    """Over MCP, /mcp refuses who has no good token before a method is looked at: test_methods_mcp.py."""
    return [each for each in world.tokens if each.is_known] if ask is over_mcp else world.all


@pytest.fixture(autouse=True)
def folders_to_grep(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "a.txt").write_text("x")
    settings.GREP_ROOTS = [("apollo", tmp_path)]


def test_every_action_is_asked_for(world: World) -> None:
    rows = list(calls(world))
    assert {row.action.call for row in rows} == {action.call for action in ACTIONS}
    assert {*READERS_MAY} < {action.call for action in ACTIONS if action.for_readers}
    assert len(rows) >= AT_LEAST, len(rows)


@pytest.mark.parametrize("ask", FACES)
def test_who_may_gets_an_answer(ask: Ask, world: World) -> None:
    wrong, used = Wrong(), set()
    for asker in askers_of(ask, world):
        for call in (each for each in calls(world) if each.may(asker)):
            with rolled_back():
                status, body = ask(asker, call)
            of_ada = call.action.call in OF_ADA and not asker.is_ada
            is_right = "ada" in body.get("message", "") if of_ada else status == 200
            wrong.unless(is_right, f"{asker}: {call}", (status, body))
            used |= {call.action.call} if of_ada else set()
    assert wrong == [], wrong.told
    assert used == ({*OF_ADA} if ask is over_rest else set())  # Tokens speak as ada.


@pytest.mark.parametrize("ask", FACES)
def test_who_may_not_is_refused_and_nothing_is_written(ask: Ask, world: World) -> None:
    wrong, used = Wrong(), set()
    for asker in (each for each in askers_of(ask, world) if not each.is_stranger):
        with without_a_trace(world, wrong, asker):
            for call in (each for each in calls(world) if not each.may(asker)):
                told = ask(asker, call)
                wrong.unless(is_refused(asker, told), f"{asker}: {call}", told)
                used |= {call.action.call} if any(map(asker.may, call.scopes)) else set()
    assert wrong == [], wrong.told
    assert used >= {*ALSO}, "an exception that matters no more"


@pytest.mark.one_engine
@pytest.mark.usefixtures("no_time_passes")
@pytest.mark.parametrize("ask", FACES)
def test_a_stranger_gets_the_same_answers_with_and_without_apollo(ask: Ask, world: World) -> None:
    wrong, rows = Wrong(), list(calls(world))
    strangers = [each for each in askers_of(ask, world) if each.is_stranger]
    answers = compare_with_nothing(world, wrong, ask, strangers, rows)
    assert wrong == [], wrong.told
    assert ask is over_mcp or {status for _, _, (status, _) in answers} == {404}
