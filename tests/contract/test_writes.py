"""What every write does besides storing its fields, over MCP and over REST."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest import Subtests  # noqa: PT013  # A name for a type.
from rest_framework.test import APIClient

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Event, Membership, Project
from ctxhub.rest.takes import Takes
from tests.addresses import operations
from tests.contract.calls import action_of, made, parent, several, stored
from tests.contract.faces import Face, Open, OverMcp, OverRest
from tests.contract.nouns import CONTRACTS, Contract, Json
from tests.hub import WHOLE, LiveHub, RestClient
from tests.signed_in import sign_in

# What two objects of the same fields differ in.
OF_ONE_OBJECT = {"id", "at", "created", "updated", "created_at", "updated_at", "expires_at", "saved_at"}
OF_ONE_OBJECT |= {"workflow_id", "thread", "fence", "agent", "by", "from", "expires"}
# Over REST a PATCH of these answers what the tool does, without the object.
CHANGED_IN_SHORT = {"scratchpad", "session"}
# What a write answers besides the object.
OF_THE_WRITE = {"id", "result", "context_created", "workflow_id", "unknown", "similar", "hint", "ref"}
OF_THE_WRITE |= {"scratchpad_id", "conversation"}
# Addresses of what has a version, which If-Match names.
VERSIONED = {
    "decisions/",
    "decisions/<key:key>/",
    "templates/<key:name>/decisions/",
    "scratchpads/<id:scratchpad_id>/",
    "scratchpads/<id:scratchpad_id>/append/",
    "scratchpads/<id:scratchpad_id>/revisions/<int:revision>/restore/",
}

nouns = pytest.mark.parametrize("noun", CONTRACTS, ids=str)
batches = pytest.mark.parametrize("noun", [noun for noun in CONTRACTS if noun.batch], ids=str)


@nouns
def test_a_repeated_request_is_written_once(noun: Contract, open_face: Open, apollo: Project) -> None:
    ada = open_face("ada")
    fields = {**noun.needs(ada), **noun.other}
    first = ada.create(noun, fields, request="r-1")
    assert "error" not in first, first
    before = stored(apollo)
    assert ada.create(noun, fields, request="r-1") == first
    if noun.batch:
        done = ada.batch(noun, [noun.everything], request="b-1")
        before = stored(apollo)
        assert ada.batch(noun, [noun.everything], request="b-1") == done
        assert ada.batch(noun, [noun.other], request="b-1")["error"] == "conflict"
    assert stored(apollo) == before


@batches
def test_a_batch_writes_all_its_items_in_order(noun: Contract, open_face: Open) -> None:
    face, told_apart = open_face("ada"), {"message": "text", "change": "path"}.get(noun.kind, noun.name)
    items = several(noun, 50)
    answer = face.batch(noun, items)
    assert (answer["done"], answer["failed"], len(answer["results"])) == (50, 0, 50)
    written = [face.read(noun, result[noun.made])[told_apart] for result in answer["results"][::7]]
    assert written == [item[told_apart] for item in items[::7]]
    assert face.batch(noun, []) == {"done": 0, "failed": 0, "results": []}


@batches
def test_one_wrong_item_stops_a_batch_unless_it_is_not_atomic(
    noun: Contract, open_face: Open, apollo: Project
) -> None:
    face, before = open_face("ada"), stored(apollo)
    missing = {**noun.other}
    del missing[next(one.name for one in action_of(noun, noun.create).arguments.all if one.required)]
    good, last = several(noun, 2)
    for wrong in (missing, 5, None, {**noun.other, "zzz": 1}, {**noun.other, "agent": "zoe"}):
        refused = face.batch(noun, [good, wrong])
        assert (refused["error"], refused["index"]) == ("invalid", 1)
    assert stored(apollo) == before
    answer = face.batch(noun, [good, missing, 5, last], atomic=False)
    assert (answer["done"], answer["failed"]) == (2, 2)
    told = [(result.get("index"), result.get("error")) for result in answer["results"]]
    assert told == [(None, None), (1, "invalid"), (2, "invalid"), (None, None)]


@pytest.mark.one_engine
@pytest.mark.parametrize("noun", [one for one in CONTRACTS if one.kind != "session"], ids=str)
def test_null_over_rest_is_absent_when_it_is_made(
    noun: Contract, ada_rest: RestClient, cy_rest: RestClient
) -> None:
    [takes] = [
        one.nullable()
        for one in operations("PUT" if noun.has_put else "POST")
        if one.address in (noun.path, f"{noun.path}<key:{noun.argument}>/") and one.body
    ]
    given: list[Json] = [{}, {name: None for name, nullable in takes.items() if nullable}]
    items = []
    for face, absent in zip((OverRest(ada_rest), OverRest(cy_rest)), given, strict=True):
        needed = noun.needs(face)
        name = made(face, noun, {**absent, **needed, **noun.other}, {})
        items.append({n: v for n, v in face.read(noun, name).items() if n not in {*OF_ONE_OBJECT, noun.name}})
    assert items[0] == items[1]


@pytest.mark.one_engine
@nouns
def test_the_agent_named_in_a_call_is_its_author(noun: Contract, open_face: Open, apollo: Project) -> None:
    crew = open_face("")
    made(crew, noun, {**noun.other, "agent": "zoe"}, noun.needs(crew))
    assert str(Event.objects.in_project(apollo).filter(noun=noun.kind).latest("pk").agent) == "zoe"


@pytest.mark.one_engine
@nouns
def test_rest_answers_a_post_with_names_and_what_changed(
    noun: Contract, hub: LiveHub, ada_token: str
) -> None:
    """And with the whole object where the client prefers that; a PATCH is the other way round."""
    ada = OverRest(hub.rest(ada_token))
    in_full = OverRest(RestClient(hub.port, ada_token, dict(WHOLE), project="apollo"))
    needed = noun.needs(ada)
    created = in_full.create(noun, {**needed, **noun.everything})
    name = created[noun.made]
    # A snapshot's tier is that of the write.
    whole = {field: value for field, value in ada.read(noun, name).items() if field != "session"}
    assert {**created, **whole} == created or noun.kind == "session"
    assert {*created} - {*whole} <= OF_THE_WRITE | {"session"}
    assert created["ref"] == f"{noun.kind}:{name}"
    assert created.get("id", name) == name or noun.kind == "decision"

    short = ada.create(noun, {**needed, **several(noun, 1)[0]})
    assert short["ref"] == f"{noun.kind}:{short[noun.made]}"
    if not noun.has_put:
        assert len(str(short)) < 300
        assert {*short} - OF_THE_WRITE <= {*_answer_of(noun)} | {"id", "ref"}
    for act in noun.acts:
        if noun.kind != "message":
            assert {*ada.act(noun, name, act)} <= {"id", "ref", "result", "status", "hint"}
            assert in_full.act(noun, name, act).items() >= ada.read(noun, name).items()
    if noun.change and noun.kind not in CHANGED_IN_SHORT:
        changed = ada.change(noun, name, noun.changes)
        assert changed == {**changed, **ada.read(noun, changed[noun.made]), "result": "updated"}


def _answer_of(noun: Contract) -> set[str]:
    """What the tool answers."""
    return {*Takes((noun.tool, noun.create)).answer.__annotations__}


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("prefer", "applied", "is_whole"),
    [
        ("return=representation", "return=representation", True),
        ('respond-async, Return = "representation"; x=1', "return=representation", True),
        ("return=minimal", "return=minimal", False),
        ("return=minimal, return=representation", "return=minimal", False),
        ("return=everything", None, None),
        ("handling=strict", None, None),
        ("returned=representation", None, None),
    ],
)
def test_a_preference_is_followed_and_said(
    ada_rest: RestClient, prefer: str, applied: str | None, is_whole: bool | None
) -> None:
    fields = {"title": "t", "content": "c"}
    for send, path, usual in (
        (ada_rest.post, "memories/", False),
        (ada_rest.patch, "memories/{}/", True),
        (ada_rest.put, "memories/{}/", True),
        (ada_rest.post, "memories/{}/restore/", False),
    ):
        memory = ada_rest.post("memories/", fields).body["id"]
        body = {"revision": 1} if path.endswith("restore/") else fields
        reply = send(path.format(memory), body, {"Prefer": prefer})
        assert reply.headers.get("preference-applied") == applied, path
        assert ("content" in reply.body) == (usual if is_whole is None else is_whole)
        assert reply.body["ref"] == f"memory:{reply.body['id']}"


@pytest.mark.one_engine
def test_a_repeated_post_is_answered_in_the_same_form(ada_rest: RestClient) -> None:
    body, key = {"title": "t", "content": "c"}, {"Idempotency-Key": "r-1"}
    first = ada_rest.post("memories/", body, {**key, **WHOLE})
    again = ada_rest.post("memories/", body, {**key, **WHOLE})
    assert (again.body, again.headers["preference-applied"]) == (first.body, "return=representation")
    assert ada_rest.post("memories/", body, key).body["error"] == "conflict"


@pytest.mark.one_engine
def test_a_token_that_only_writes_is_told_no_more_if_it_prefers_more(hub: LiveHub, apollo: Project) -> None:
    secret = create_token(project=apollo, agent="ci", scopes=["write"]).secret
    reply = hub.rest(secret, project="apollo").post("memories/", {"title": "t", "content": "c"}, WHOLE)
    assert ("content" in reply.body, "preference-applied" in reply.headers) == (False, False)


@pytest.mark.one_engine
@nouns
def test_a_token_that_may_only_write_is_answered_as_by_the_tool(
    noun: Contract, hub: LiveHub, apollo: Project
) -> None:
    secret = create_token(project=apollo, agent="ci", scopes=["write"]).secret
    mcp, rest = OverMcp(hub.mcp(secret)), OverRest(hub.rest(secret))
    faces: list[Face] = [mcp, rest]
    needed = noun.needs(rest)
    answers = [
        face.create(noun, {**needed, **fields}) for face, fields in zip(faces, several(noun, 2), strict=True)
    ]
    names = {"id", "ref"}  # REST names all alike.
    assert {*answers[0]} - {"context_created"} - names == {*answers[1]} - {"similar"} - names
    if noun.change:
        changes = {name: value for name, value in noun.changes.items() if name != "name"}
        changed = [
            {*face.change(noun, answer[noun.made], changes)}
            for face, answer in zip(faces, answers, strict=True)
        ]
        assert changed[0] - names == changed[1] - names
    assert rest.read(noun, answers[1][noun.made])["error"] == "not_allowed"
    assert rest.list(noun, **noun.listing, **parent(noun, needed))["error"] == "not_allowed"


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("role", "error"), [(Membership.Role.VIEWER, "not_allowed"), (Membership.Role.MEMBER, None)], ids=str
)
def test_the_role_of_a_person_decides_whether_they_may_write(
    hub: LiveHub,
    apollo: Project,
    ada_token: str,
    role: Membership.Role,
    error: str | None,
    subtests: Subtests,
) -> None:
    person, ada = OverRest(sign_in(hub, "vi", apollo, role)), OverRest(hub.rest(ada_token))
    for noun in CONTRACTS:
        with subtests.test(noun.kind):
            assert person.create(noun, {**noun.needs(ada), **noun.everything}).get("error") == error


@pytest.mark.one_engine
def test_if_match_is_refused_where_nothing_has_a_version(ada_rest: RestClient, subtests: Subtests) -> None:
    writes = operations("POST", "PUT", "PATCH", "DELETE")
    assert {one.address for one in writes} >= VERSIONED
    for one in writes:
        if one.address in VERSIONED:
            continue
        with subtests.test(str(one)):
            body = one.body.example if one.body else None
            query = "?target=decision:k" if str(one).startswith("DELETE memories/<id:memory_id>/rel") else ""
            reply = ada_rest.send(one.method, ada_rest._url(one.path({}) + query), body, {"If-Match": '"1"'})
            assert (reply.status, reply.body["message"]) == (400, "Conditions are not heeded here.")


@pytest.mark.one_engine
@nouns
def test_a_list_over_rest_takes_no_more_queries_for_more_rows(
    noun: Contract, hub: LiveHub, ada_token: str, ben_token: str
) -> None:
    ada, client = OverMcp(hub.mcp(ada_token)), APIClient(headers={"Authorization": f"Bearer {ben_token}"})
    needed = noun.needs(ada)
    query = {"limit": 200, **noun.listing, **parent(noun, needed)}

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            page = client.get(f"/api/v1/projects/apollo/{noun.path}", query)
        assert page.status_code == 200
        return len(queries)

    rows = [{**noun.everything, **fields} for fields in several(noun, 12)]
    for fields in rows[:3]:
        made(ada, noun, fields, needed)
    count()
    few = count()
    for fields in rows[3:]:
        made(ada, noun, fields, needed)
    count()
    assert count() == few
