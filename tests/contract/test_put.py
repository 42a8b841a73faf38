"""PUT makes an object what the body says and nothing else; what has no PUT says why, and what to use."""

from typing import Any

import pytest
from pytest import Subtests  # noqa: PT013  # A name for a type.

from ctxhub.core.models import Project
from tests.addresses import operations
from tests.contract.calls import made, stored
from tests.contract.faces import OverRest
from tests.contract.nouns import CONTRACTS, Contract, Json
from tests.hub import Reply, RestClient

REPLACED = {
    "decision": "decisions/<key:key>/",
    "template": "templates/<key:name>/",
    "memory": "memories/<id:memory_id>/",
    "context": "contexts/<key:context>/",
    "workflow": "workflows/<id:workflow_id>/",
}
# Why not, and what instead.
KEPT = {
    "constraint": "PATCH changes its status alone; for another text deactivate it and add a new one.",
    "scratchpad": 'PATCH with {"content": ...} replaces the text; with a `mode` it edits a part.',
    "message": "A message does not change once it is sent: send another with `reply_to`.",
}
# What a body must have.
NEEDED: dict[str, Json] = {"decision": {"value": 1}, "memory": {"title": "So.", "content": "So."}}
# What is not of the fields: names, times, counts, and what follows from the whole history of an object.
VOLATILE = {
    *("id", "name", "key", "created", "updated", "created_at", "updated_at", "revision", "version"),
    *("result", "similar", "origin", "memories", "context_created"),
}
replaced = pytest.mark.parametrize("noun", [noun for noun in CONTRACTS if noun.kind in REPLACED], ids=str)


def put(client: RestClient, noun: Contract, name: Any, fields: Json) -> Reply:
    body = {field: value for field, value in fields.items() if field not in ("key", *_named(noun))}
    return client.put(OverRest(client)._path(noun, name), body)


def _named(noun: Contract) -> set[str]:
    return {"name"} if noun.kind == "template" else set()


def fields_of(item: Json) -> Json:
    return {name: value for name, value in item.items() if name not in VOLATILE}


def test_what_is_replaced() -> None:
    own = {"config/", "webhooks/<id:webhook_id>/"}
    assert {one.address for one in operations("PUT")} - own == {*REPLACED.values()}


@replaced
def test_what_is_left_out_goes_back_to_its_default(noun: Contract, ada_rest: RestClient) -> None:
    ada = OverRest(ada_rest)
    name = made(ada, noun, noun.everything, noun.needs(ada))
    needed = NEEDED.get(noun.kind, {})
    new = {"context": {"name": "Fresh"}, "decision": {"key": "a/new"}, "template": {"name": "new"}}
    fresh = ada.read(noun, made(ada, noun, {**needed, **new.get(noun.kind, {})}, {}))
    assert fields_of(fresh) != fields_of(ada.read(noun, name))

    reply = put(ada_rest, noun, name, needed)
    assert (reply.status, reply.body["result"]) == (200, "updated")
    assert fields_of(ada.read(noun, name)) == fields_of(fresh)


@replaced
def test_what_is_given_is_all_that_there_is(noun: Contract, ada_rest: RestClient, apollo: Project) -> None:
    """Keys of metadata that are left out are gone, too; the same again writes nothing."""
    ada = OverRest(ada_rest)
    name = made(ada, noun, noun.everything, noun.needs(ada))
    fields = {**noun.everything, **noun.changes}
    if "metadata" in fields:
        fields["metadata"] = {"new": [1, {"a": None}]}
    assert put(ada_rest, noun, name, fields).status == 200
    item = ada.read(noun, fields.get("name", name) if noun.kind == "context" else name)
    given = {field: value for field, value in fields.items() if field != "version"}
    assert {field: item.get(field) for field in given} == given

    before = stored(apollo)
    assert put(ada_rest, noun, item[noun.name], fields).body["result"] == "unchanged"
    assert stored(apollo) == before


@replaced
def test_a_wrong_put_writes_nothing(
    noun: Contract, ada_rest: RestClient, cy_rest: RestClient, apollo: Project, subtests: Subtests
) -> None:
    ada = OverRest(ada_rest)
    name = made(ada, noun, noun.everything, noun.needs(ada))
    needed = NEEDED.get(noun.kind, {})
    before = stored(apollo)
    with subtests.test("unknown field"):
        reply = put(ada_rest, noun, name, {**needed, "zzz": 1})
        assert (reply.status, reply.body["error"]) == (400, "invalid")
        assert "zzz" in reply.body["message"]
    for field in needed:
        with subtests.test(field):
            reply = put(ada_rest, noun, name, {n: v for n, v in needed.items() if n != field})
            assert (reply.status, reply.body["missing"]) == (400, [field])
    with subtests.test("body"):
        assert ada_rest.put(ada._path(noun, name), [1]).status == 400
    if noun.kind not in ("decision", "template"):  # By their names these are made.
        with subtests.test("unknown"):
            assert put(ada_rest, noun, 999999, needed).status == 404
        with subtests.test("another project"):
            assert put(cy_rest, noun, name, needed).status == 404
    assert stored(apollo) == before


@pytest.mark.parametrize("kind", KEPT)
def test_what_is_not_replaced_says_why(kind: str, ada_rest: RestClient) -> None:
    [noun] = [noun for noun in CONTRACTS if noun.kind == kind]
    ada = OverRest(ada_rest)
    name = made(ada, noun, noun.other, noun.needs(ada))
    reply = ada_rest.put(ada._path(noun, name), noun.other)
    assert (reply.status, reply.body["error"], reply.body["hint"]) == (405, "invalid", KEPT[kind])
    assert "PUT" not in reply.headers["allow"]


def test_a_memory_goes_back_to_the_general_context(ada_rest: RestClient) -> None:
    """It is made if it is not there, and the memory's revisions stay."""
    memory = ada_rest.post("memories/", {"title": "t", "content": "one", "context": "shop"}).body["id"]
    reply = ada_rest.put(f"memories/{memory}/", {"title": "t", "content": "two"})
    assert (reply.status, reply.body["context_created"]) == (200, True)
    assert ada_rest.get(f"memories/{memory}/").body["context"] == "general"
    revisions = ada_rest.get(f"memories/{memory}/revisions/").body
    assert revisions["count"] == 2
    counts = {one["name"]: one["memories"] for one in ada_rest.get("contexts/").body["items"]}
    assert counts == {"general": 1, "shop": 0}


def test_a_context_keeps_its_memories_and_no_other_ones_name(ada_rest: RestClient) -> None:
    ada_rest.post("memories/", {"title": "t", "content": "c", "context": "shop"})
    ada_rest.post("contexts/", {"name": "depot"})
    assert ada_rest.put("contexts/shop/", {"name": "Depot"}).status == 409
    body = ada_rest.put("contexts/shop/", {"description": "So."}).body
    assert (body["name"], body["memories"], body["description"]) == ("shop", 1, "So.")


def test_a_closed_workflow_is_opened(ada_rest: RestClient) -> None:
    workflow = ada_rest.post("workflows/", {"name": "w"}).body["workflow_id"]
    ada_rest.post("scratchpads/", {"workflow_id": workflow, "name": "p"})
    ada_rest.patch(f"workflows/{workflow}/", {"active": False})
    body = ada_rest.put(f"workflows/{workflow}/", {"name": "v"}).body
    assert (body["name"], body["active"], body["pads"]) == ("v", True, 1)
    assert ada_rest.put(f"workflows/{workflow}/", {"active": False}).body["active"] is False


def test_conditions_hold_for_put_as_for_patch(ada_rest: RestClient) -> None:
    ada_rest.post("decisions/", {"key": "k", "value": 1})
    for send in (ada_rest.put, ada_rest.patch):
        assert send("decisions/k/", {"value": 2}, {"If-Match": '"0.9.0"'}).status == 412
    reply = ada_rest.put("decisions/k/", {"value": 2}, {"If-Match": '"1.0.0"'})
    assert (reply.status, reply.headers["etag"]) == (200, '"1.0.1"')


def test_every_put_has_an_example() -> None:
    assert all(one.body.example for one in operations("PUT"))
