"""Every method of MCP for every token that is good; test_nobody_mcp.py has the others."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import authenticate
from ctxhub.core.kit.caller import READ
from ctxhub.mcp.eras import LATER_VERSIONS
from ctxhub.mcp.json_rpc import METHOD_NOT_FOUND, RpcError
from ctxhub.mcp.methods import METHODS
from ctxhub.mcp.offers.prompts import PROMPTS
from ctxhub.mcp.offers.resources import SPECIAL
from ctxhub.mcp.requests import Request, Surface
from ctxhub.toolbox.actions import all_tools
from tests.databases import rolled_back
from tests.mcp.transcript import META, MODERN
from tests.roles.asking import Wrong, answered, compare_with_nothing, without_a_trace
from tests.roles.people import Asker
from tests.roles.world import World

Json = dict[str, Any]

EARLIER = "2025-11-25"
# A number that may only grow, so that no row gets lost unnoticed.
AT_LEAST = 40

HELLO = {"protocolVersion": EARLIER, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
TEMPLATE = {"type": "ref/resource", "uri": "ctxhub://{kind}/{id}"}
# What a client sends, of each method that takes something; of the last ones more than one.
PARAMS: dict[str, list[Json]] = {
    "initialize": [HELLO],
    "resources/subscribe": [{"uri": "ctxhub://layers"}],
    "resources/unsubscribe": [{"uri": "ctxhub://layers"}],
    "logging/setLevel": [{"level": "info"}],
    "tools/call": [{"name": "hub", "arguments": {"action": "stats"}}],
}

# What a connection is not offered is refused as if it did not exist, and its list leaves it out.
NOT_OFFERED = {
    "prompts/get": ("prompt: .* is not known", "a prompt is offered with the scopes of its operations"),
    "completion/complete": ("is not known|There is no", "of what is offered alone are there completions"),
}


@dataclass(frozen=True)
class Row:
    """A request that is answered; `scopes`: all of them are needed."""

    method: str
    version: str
    params: Json
    scopes: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.method} {self.version} {self.params}"

    @property
    def is_served(self) -> bool:
        method = METHODS[self.method]
        check = method.later if self.version in LATER_VERSIONS else method.earlier
        return check is not None and method.answer is not None

    def may(self, asker: Asker) -> bool:
        return all(map(asker.may, self.scopes))


def rows(world: World) -> Iterator[Row]:
    for method in METHODS:
        for version in (EARLIER, MODERN):
            meta = {"_meta": META} if version == MODERN else {}
            for params, scopes in _requests(method, world):
                yield Row(method, version, {**params, **meta}, scopes)


def _requests(method: str, world: World) -> Iterator[tuple[Json, frozenset[str]]]:
    """What is asked, and the scopes of the operations that answer it."""
    if method == "resources/read":
        for each in SPECIAL.values():
            name = "/ada" if each.kind == "inbox" else ""
            yield {"uri": f"ctxhub://{each.kind}{name}"}, _scopes((each.tool, each.action))
        for uri in ("decision/k", f"memory/{world.ids['memory']}", "context/shop"):
            yield {"uri": f"ctxhub://{uri}"}, _scopes(("get", ""))
    elif method == "prompts/get":
        for prompt in PROMPTS:
            yield {"name": prompt.name, "arguments": {}}, _scopes(*prompt.needs)
    elif method == "completion/complete":
        for kind in ("decision", "memory", "session", "context"):
            given = {"arguments": {"kind": kind}}
            argument = {"name": "id", "value": ""}
            yield {"ref": TEMPLATE, "argument": argument, "context": given}, frozenset({READ})
        for prompt in PROMPTS:
            for argument_of in prompt.arguments:
                place = {"ref": {"type": "ref/prompt", "name": prompt.name}}
                value = {"argument": {"name": argument_of.name, "value": "apollo"}}
                yield {**place, **value}, frozenset({READ}) | _scopes(*prompt.needs)
    elif method == "subscriptions/listen":
        uris = ["ctxhub://decision/k", "ctxhub://inbox/ada"]
        yield {"notifications": {"resourceSubscriptions": uris}}, frozenset({READ})
    elif method == "tools/call":
        yield PARAMS[method][0], _scopes(("hub", "stats"))
    else:
        for params in PARAMS.get(method, [{}]):
            yield params, frozenset()


def _scopes(*operations: tuple[str, str]) -> frozenset[str]:
    return frozenset(all_tools()[tool].actions[action].scope for tool, action in operations)


def ask(asker: Asker, row: Row) -> Json:
    """The answer, or the error with its code."""
    caller = authenticate(asker.token)
    if asker.agent:
        caller = caller.named(asker.agent)
    try:
        return answered(Request(row.method, row.params, row.version, caller, Surface()))
    except RpcError as error:
        return {"code": error.code, "message": error.message, "data": error.data}


def is_error(told: Json) -> bool:
    return "code" in told or told.get("isError", False)


def test_every_method_is_asked_for(world: World) -> None:
    found = list(rows(world))
    assert {row.method for row in found} == {*METHODS}
    assert len(found) >= AT_LEAST, len(found)
    served = {row.method for row in found if row.is_served}
    assert served == {name for name, method in METHODS.items() if method.answer}


def test_who_may_gets_an_answer(world: World) -> None:
    wrong = Wrong()
    for asker in (each for each in world.tokens if each.is_known and not each.is_stranger):
        for row in (each for each in rows(world) if each.is_served and each.may(asker)):
            with rolled_back():
                told = ask(asker, row)
            of_another = "inbox/ada" in str(row.params.get("uri")) and not asker.is_ada
            is_right = (
                "cannot speak as 'ada'" in told.get("message", "") if of_another else not is_error(told)
            )
            wrong.unless(is_right, f"{asker}: {row}", told)
    assert wrong == [], wrong.told


def test_who_may_not_is_refused_and_nothing_is_written(world: World) -> None:
    wrong = Wrong()
    for asker in (each for each in world.tokens if each.is_known and not each.is_stranger):
        with without_a_trace(world, wrong, asker):
            for row in rows(world):
                if row.is_served and row.may(asker):
                    continue
                told = ask(asker, row)
                if not row.is_served:
                    is_right = told["code"] == METHOD_NOT_FOUND
                else:
                    sentence, _ = NOT_OFFERED.get(row.method, ("needs the scope", ""))
                    is_right = is_error(told) and bool(re.search(sentence, str(told)))
                wrong.unless(is_right and "one of: ." not in str(told), f"{asker}: {row}", told)
    assert wrong == [], wrong.told


@pytest.mark.usefixtures("no_time_passes")
def test_a_stranger_gets_the_same_answers_with_and_without_apollo(world: World) -> None:
    wrong, found = Wrong(), [row for row in rows(world) if row.is_served]
    strangers = [each for each in world.tokens if each.is_stranger]
    answers = compare_with_nothing(world, wrong, ask, strangers, found)
    objects = [told for _, row, told in answers if "/k" in str(row.params.get("uri"))]
    assert objects
    assert all(is_error(told) for told in objects)
    assert wrong == [], wrong.told
