"""Every address of REST with every method, for everybody who may ask."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.urls import get_resolver
from pytest_django import Settings

from ctxhub.core.events.following import Opening
from ctxhub.core.kit.caller import ADMIN, READ, WRITE
from ctxhub.core.registry import Deletion, all_nouns
from ctxhub.rest.views import HubViewSet, ProjectViewSet
from ctxhub.toolbox.actions import all_tools
from tests.addresses import views_below
from tests.core.test_nulls import minimal_arguments
from tests.databases import rolled_back
from tests.roles.asking import Told, Wrong, compare_with_nothing, is_refused, without_a_trace
from tests.roles.people import Asker
from tests.roles.test_tools import ALSO, is_for_reader
from tests.roles.world import World

Json = dict[str, Any]

ACTIONS = {action.call: action for tool in all_tools().values() for action in tool.actions.values()}
API, PROJECT = "api/v1/", "projects/<slug:slug>/"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
# A number that may only grow, so that no row gets lost unnoticed.
AT_LEAST = 148

KNOWN, PERSON, SUPERUSER, NOBODY = "the known", "people", "superusers", "nobody"
# Addresses whose view names no scope: who may, and why.
EXCEPTIONS = {
    "GET me/": (KNOWN, "everybody may know who they are"),
    "PATCH me/": (PERSON, "their own choice"),
    "GET projects/": (KNOWN, "it lists what the caller sees"),
    "POST projects/": (SUPERUSER, "projects are made by those who see all of them"),
    "GET people/": (SUPERUSER, "accounts are the hub's"),
    "GET people/<str:username>/": (SUPERUSER, "accounts are the hub's"),
    "POST people/<str:username>/deactivate/": (SUPERUSER, "accounts are the hub's"),
    "POST people/<str:username>/password_link/": (SUPERUSER, "accounts are the hub's"),
    "GET me/tokens/": (PERSON, "their own tokens; a token is nobody who has some"),
    "POST me/tokens/": (PERSON, "their own tokens"),
    "DELETE me/tokens/<int:token_id>/": (NOBODY, "the spare token is the project's"),
    "GET tokens/": (ADMIN, "the tokens of a project are its administrators'"),
    "POST tokens/": (ADMIN, "the tokens of a project are its administrators'"),
    "DELETE tokens/<int:token_id>/": (ADMIN, "the spare token is the project's"),
    "POST tokens/<int:token_id>/rotate/": (ADMIN, "the spare token is the project's"),
    f"POST {PROJECT}call/<str:tool>/": (READ, "statistics are asked for; test_tools.py asks for the rest"),
    f"POST {PROJECT}call/<str:tool>/<str:action>/": (READ, "statistics are asked for"),
    f"POST {PROJECT}bin/restore/": (READ, "a dry run is asked for; else what was deleted decides"),
}
# Who may is answered with another error, since a right request would need more than the world has.
UNFINISHED = {f"POST {PROJECT}import/": 400}
# What is held by ada is not for others, whatever they may: they are told so.
OF_ADA = {
    f"PATCH {PROJECT}leases/<id:lease_id>/": "a lease is its holder's",
    f"DELETE {PROJECT}leases/<id:lease_id>/": "a lease is its holder's",
    f"PATCH {PROJECT}sessions/<id:session_id>/": "a session is its agent's, and others restore it",
    f"POST {PROJECT}sessions/<id:session_id>/prioritize/": "it is saved in the session",
}


# Instead of the example.
BODIES: dict[str, Json] = {
    "PATCH me/": {"broadcasts": True},
    f"PATCH {PROJECT}scratchpads/<id:scratchpad_id>/": {"content": "x"},
    f"POST {PROJECT}sessions/restore/": {"session": "1"},
}
# Addresses that describe no body, since any operation's is taken.
OF_STATS = {"call/<str:tool>/": {"action": "stats"}, "call/<str:tool>/<str:action>/": {}}


@dataclass(frozen=True)
class Row:
    method: str
    address: str
    view: type[HubViewSet]
    action: str
    names: Mapping[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return f"{self.method} {self.address}"

    @property
    def takes(self) -> Any:
        return self.view.bodies.get(self.action) or self.view.queries.get(self.action)

    @property
    def operation(self) -> str:
        return self.takes.operation if self.takes else ""

    @property
    def body(self) -> Json | None:
        """The example of its documentation, with names of what there is."""
        if self.action not in self.view.bodies:
            return OF_STATS.get(self.address.removeprefix(PROJECT))
        example = BODIES.get(str(self)) or dict(self.view.bodies[self.action].example)
        if self.names_project:
            example["project"] = "apollo"
        there: Json = {"refs": ["decision:k"], "target": "decision:k", "ids": [self.names["delivery_id"]]}
        there |= {"session": str(self.names["session_id"])} if "session" in example else {}
        there |= {name: int(value) for name, value in self.names.items() if name.endswith("_id")}
        fresh = {"slug": "ceres", "agent": f"{self.names['agent']}-claude"}
        return {name: {**there, **fresh}.get(name, value) for name, value in example.items()}

    @property
    def query(self) -> Json:
        """What it needs, and what its operation needs one of."""
        taken = self.view.queries.get(self.action)
        if self.method == "GET" and self.names_project:
            return {"project": "apollo"}
        if self.action in self.view.bodies or not taken:
            return {}
        of_operation = minimal_arguments(taken.operation, self.names["ids"])
        given = {"ref": "decision:k", "target": "decision:k", **of_operation}
        known = {argument.name for argument in taken.arguments.all if argument.required} | {*of_operation}
        in_address = {name.partition(":")[2] for name in re.findall("<([^>]+)>", self.address)}
        names = known & {argument.name for argument in taken.arguments.all} - in_address
        return {name: given[name] for name in sorted(names)}

    @property
    def names_project(self) -> bool:
        """Beside the projects: a superuser sees several."""
        return self.address in ("tokens/", "me/tokens/")

    @property
    def path(self) -> str:
        return "/" + API + re.sub(r"<(?:\w+:)?(\w+)>", lambda name: str(self.names[name[1]]), self.address)

    # -- Who may -----------------------------------------------------------------------------------

    @property
    def declared(self) -> str | None:
        """The scope that the view names."""
        is_in_project = issubclass(self.view, ProjectViewSet)
        return self.view.scope_of(self.action, self.method) if is_in_project else None  # type: ignore[attr-defined]

    def of_operation(self, body: Json | None) -> str | None:
        """The scope of the operation that the address is."""
        return ACTIONS[self.operation].scope_of(body or {}) if self.operation else None

    @property
    def deletion(self) -> Deletion | None:
        """How the kind is deleted, of an address that deletes one."""
        plural = self.address.removeprefix(PROJECT).partition("/")[0]
        kinds = [noun.deletion for noun in all_nouns() if noun.plural == plural]
        is_of_one = self.method == "DELETE" and self.address.count("<") == 2 and self.action == "destroy"
        return kinds[0] if is_of_one and kinds and isinstance(kinds[0], Deletion) else None

    def may(self, asker: Asker) -> bool:
        if str(self) in EXCEPTIONS:
            return self._may_by_exception(asker, EXCEPTIONS[str(self)][0])
        if is_for_reader(asker, self.operation):
            return True
        scopes = [self.declared, self.of_operation(self.body), ALSO.get(self.operation, ("",))[0]]
        if self.deletion and not asker.is_ada:
            scopes.append(self.deletion.others_scope)
        return all(asker.may(scope) for scope in scopes if scope)

    def _may_by_exception(self, asker: Asker, who: str) -> bool:
        kinds = {
            KNOWN: asker.is_known,
            PERSON: asker.is_known and asker.user is not None,
            SUPERUSER: asker.is_superuser,
            NOBODY: False,
        }
        return kinds[who] if who in kinds else asker.may(who)


def views() -> Iterator[tuple[str, Any]]:
    for route, view in views_below(get_resolver().url_patterns):
        if route.startswith(API) and hasattr(view, "actions"):
            yield route.removeprefix(API), view


def rows(world: World, agent: str = "ada") -> list[Row]:
    ids = {**world.ids, "message": world.ids["request"]}
    names = {
        **{f"{name}_id": value for name, value in ids.items() if isinstance(value, int)},
        "scratchpad_id": ids["pad"],
        "entry": ids["bin"],
        "ids": ids,
        "agent": agent,
        "slug": "apollo",
        "username": "mia",
        "key": "k",
        "context": "shop",
        "revision": 1,
        "tool": "hub",
        "action": "stats",
    }
    return [
        Row(method.upper(), address, view.cls, action, names | {"name": _name(address)})
        for address, view in views()
        for method, action in view.actions.items()
        if method.upper() in METHODS
    ]


def _name(address: str) -> str:
    return "layer_summary" if "views/" in address else "incident" if "<key:name>/" in address else ""


def ask(asker: Asker, row: Row) -> Told:
    content = "application/octet-stream" if row.address.endswith("import/") else "application/json"
    speaking = {"Ctxhub-Agent": asker.agent} if asker.agent else {}
    query = f"?{urlencode(row.query, doseq=True)}" if row.query else ""
    data = row.body if content == "application/json" else b"{}"
    send = getattr(asker.client, row.method.lower())
    given = {"content_type": content, "data": data} if data is not None and row.method != "GET" else {}
    with Opening().at_work():
        reply = send(row.path + query, headers={**asker.headers, **speaking}, **given)
    assert (reply.status_code == 401) == ("WWW-Authenticate" in reply.headers), (asker, row)
    is_json = reply.headers.get("Content-Type", "").startswith("application/json")
    return reply.status_code, reply.json() if is_json and reply.content else {}


@pytest.fixture(autouse=True)
def folders_to_grep(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "a.txt").write_text("x")
    settings.GREP_ROOTS = [("apollo", tmp_path)]


def test_every_address_is_asked_for(world: World) -> None:
    found = rows(world)
    assert len(found) == len({*map(str, found)}) >= AT_LEAST, len(found)


def test_an_exception_is_needed_where_nothing_is_declared(world: World) -> None:
    undeclared = {str(row) for row in rows(world) if row.declared is None and not row.of_operation(row.body)}
    of_the_answer = {f"POST {PROJECT}bin/restore/"}
    assert undeclared | of_the_answer == {*EXCEPTIONS}
    assert {*UNFINISHED} <= {*map(str, rows(world))}


def test_an_address_asks_for_the_scope_of_its_operation(world: World) -> None:
    """The view names it from the method, the operation for itself."""
    differ = {
        str(row): (row.declared, row.of_operation(row.body))
        for row in rows(world)
        if row.operation and row.declared and row.declared != row.of_operation(row.body)
    }
    relates = f"POST {PROJECT}memories/<id:memory_id>/relationships/suggested/"
    assert differ == {
        relates: (WRITE, READ)
    }  # It asks the operation to write, which then needs WRITE as well.
    deleting = [row for row in rows(world) if row.deletion]
    assert len(deleting) >= 7
    assert [str(row) for row in deleting if row.deletion and row.declared != row.deletion.scope] == []


def test_who_may_gets_an_answer(world: World) -> None:
    wrong, used = Wrong(), set()
    for asker in (each for each in world.all if not each.is_stranger):
        agent = asker.user.get_username() if asker.user else "ada"
        for row in (each for each in rows(world, agent) if each.may(asker)):
            with rolled_back():
                status, body = ask(asker, row)
            if str(row) in OF_ADA and not asker.is_ada:
                is_right = bool(re.search("ada|another agent's", body.get("message", "")))
                used.add(str(row))
            else:
                is_right = status == UNFINISHED[str(row)] if str(row) in UNFINISHED else status < 400
            wrong.unless(is_right, f"{asker}: {row}", (status, body))
    assert wrong == [], wrong.told
    assert used == {*OF_ADA}, "an exception that matters no more"


def test_who_may_not_is_refused_and_nothing_is_written(world: World) -> None:
    wrong = Wrong()
    for asker in (each for each in world.all if not each.is_stranger):
        with without_a_trace(world, wrong, asker):
            for row in (each for each in rows(world) if not each.may(asker)):
                told = ask(asker, row)
                is_nobodys = asker.is_known and EXCEPTIONS.get(str(row), ("",))[0] == NOBODY
                is_right = told[0] == 404 if is_nobodys else is_refused(asker, told)
                wrong.unless(is_right, f"{asker}: {row}", told)
    assert wrong == [], wrong.told


@pytest.mark.usefixtures("no_time_passes")
def test_a_stranger_gets_the_same_answers_with_and_without_apollo(world: World) -> None:
    wrong = Wrong()
    strangers = [each for each in world.all if each.is_stranger]
    for asker, row, (status, body) in compare_with_nothing(world, wrong, ask, strangers, rows(world)):
        if row.address.startswith(PROJECT) or "token_id" in row.address or row.names_project:
            is_person = asker.user is not None or not row.address.startswith("me/tokens/")
            expected = (404, "not_found") if is_person or "<" in row.address else (403, "not_allowed")
            wrong.unless((status, body.get("error")) == expected, f"{asker}: {row}", (status, body))
    assert wrong == [], wrong.told


def test_a_method_that_is_not_taken_is_refused_to_everybody_alike(world: World) -> None:
    wrong = Wrong()
    nobody, stranger = world.people[0], next(each for each in world.all if each.is_stranger)
    chosen = [nobody, stranger, next(each for each in world.all if each.may(ADMIN))]
    names = {row.address: row.names for row in rows(world)}
    for address, view in views():
        for method in (each for each in METHODS if each.lower() not in view.actions):
            row = Row(method, address, view.cls, "", names[address])
            told = [ask(asker, row) for asker in chosen]
            wrong.unless(told[0][0] == 405 and all(each == told[0] for each in told), str(row), told)
    assert wrong == [], wrong.told
