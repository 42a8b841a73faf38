"""The tool `delete`: objects of any kind by their refs, each by itself."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core import registry
from ctxhub.core.kit.caller import ADMIN, READ, WRITE, Caller
from ctxhub.core.kit.errors import Conflict, CtxhubError, InvalidInput, NotAllowed, NotFound
from ctxhub.core.models import Event, Project
from ctxhub.toolbox.dispatch import call
from memory.models import Memory, Scratchpad
from tests.search_index import index_is_right
from tests.tables import dump_project
from tests.tallies import counted, tallied

pytestmark = pytest.mark.django_db

Rows = list[list[Any]]
KINDS = ("decision", "memory", "context", "workflow", "scratchpad", "snapshot", "session")


def delete(caller: Caller, *refs: str, **more: Any) -> Rows:
    answer = call(caller, "delete", {"refs": list(refs), **more})
    assert answer["count"] == len(answer["rows"])
    rows: Rows = answer["rows"]
    return rows


def results(caller: Caller, *refs: str, **more: Any) -> list[str]:
    return [row[1] for row in delete(caller, *refs, **more)]


def refusal(caller: Caller, *refs: str, **more: Any) -> CtxhubError:
    with pytest.raises(CtxhubError) as refused:
        delete(caller, *refs, **more)
    return refused.value


def made(caller: Caller, kind: str, n: int = 0) -> str:
    """The ref of a new object of this kind."""

    def do(tool: str, action: str, **arguments: Any) -> Any:
        return call(caller, tool, {"action": action, **arguments})

    def workflow() -> int:
        found: int = do("scratchpad", "create_workflow", name=f"w{n}")["workflow_id"]
        return found

    make: dict[str, Callable[[], Any]] = {
        "decision": lambda: do("decision", "set", key=f"k/{n}", value="v")["key"],
        "memory": lambda: do("memory", "add", title=f"t{n}", content=f"c{n}")["id"],
        "context": lambda: do("memory", "context_create", name=f"ctx{n}")["id"],
        "workflow": workflow,
        "scratchpad": lambda: do("scratchpad", "create", workflow_id=workflow(), name="p", content="x")[
            "scratchpad_id"
        ],
        "snapshot": lambda: do("snapshot", "save", content=f"s{n}")["id"],
        "session": lambda: do("session", "save", summary=f"s{n}", session=f"n{n}")["session"],
        "constraint": lambda: do("constraint", "add", category="security", text=f"x{n}")["id"],
        "message": lambda: do("message", "send", text=f"m{n}")["id"],
        "lease": lambda: do("file", "lease", paths=[f"p{n}"])["lease_id"],
        "change": lambda: do("file", "record", path=f"p{n}", change="modified")["id"],
        "template": lambda: do("decision", "template_set", name=f"t{n}", require=["layer"])["name"],
    }
    return f"{kind}:{make[kind]()}"


@pytest.fixture
def member(ben: Caller) -> Caller:
    return replace(ben, scopes=frozenset({READ, WRITE}))


@pytest.fixture
def reader(ben: Caller) -> Caller:
    return replace(ben, scopes=frozenset({READ}))


def stored(project: Project) -> dict[str, Any]:
    """All rows but when agents were last seen."""
    return {table: rows for table, rows in dump_project(project).items() if table != "core_agent"}


def deleted_events(project: Project) -> list[str]:
    return sorted(event.ref for event in Event.objects.in_project(project).filter(verb="deleted"))


# -- What is deleted -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_deleted_by_its_ref(ada: Caller, apollo: Project, kind: str) -> None:
    ref = made(ada, kind)
    assert delete(ada, ref) == [[ref, "deleted"]]
    assert call(ada, "get", {"refs": [ref]})["missing"] == [ref]
    assert deleted_events(apollo) == [ref]
    assert refusal(ada, ref).code == "not_found"
    index_is_right(apollo)
    assert tallied(apollo) == counted(apollo)


def test_all_kinds_in_one_call_each_with_one_event(ada: Caller, apollo: Project) -> None:
    refs = [made(ada, kind, n) for n, kind in enumerate(KINDS)]
    assert delete(ada, *refs) == [[ref, "deleted"] for ref in refs]
    assert deleted_events(apollo) == sorted(refs)
    index_is_right(apollo)
    assert tallied(apollo) == counted(apollo)


def test_names_stand_for_contexts_and_sessions(ada: Caller, apollo: Project) -> None:
    made(ada, "context")
    made(ada, "session")
    assert results(ada, "context:CTX0", "session:n0") == ["deleted", "deleted"]


def test_an_object_named_twice_is_deleted_once(ada: Caller, apollo: Project) -> None:
    ref = made(ada, "context")
    other = ref.upper()
    assert delete(ada, ref, "context:ctx0", ref, other) == [
        [ref, "deleted"],
        ["context:ctx0", "deleted"],
        [other, "deleted"],
    ]
    assert deleted_events(apollo) == [ref]


def test_what_goes_along_is_told(ada: Caller, apollo: Project) -> None:
    for n in range(2):
        call(ada, "memory", {"action": "add", "title": f"t{n}", "content": "x", "context": "shop"})
    pad = made(ada, "scratchpad")
    workflow = call(ada, "get", {"refs": [pad]})["items"][0]["workflow_id"]
    cause = made(ada, "snapshot")
    call(ada, "snapshot", {"action": "save", "content": "effect", "caused_by": cause})
    call(ada, "session", {"action": "save", "session": "s", "files": [{"path": "a.py", "hash": "1"}]})
    refs = ["context:shop", f"workflow:{workflow}", cause, "session:s"]
    notes = [
        "with 2 memories",
        "with 1 scratchpad",
        "1 snapshot that rested on it stays",
        "with its list of 1 file",
    ]
    expected = [[ref, "deleted", note] for ref, note in zip(refs, notes, strict=True)]
    assert delete(ada, *refs, dry_run=True) == expected
    assert delete(ada, *refs) == expected
    index_is_right(apollo)
    assert tallied(apollo) == counted(apollo)


@pytest.mark.parametrize("is_container_first", [True, False])
def test_a_container_and_its_contents_go_together(
    ada: Caller, apollo: Project, is_container_first: bool
) -> None:
    memory = (
        f"memory:{call(ada, 'memory', {'action': 'add', 'title': 't', 'content': 'x', 'context': 'c'})['id']}"
    )
    pad = made(ada, "scratchpad")
    workflow = f"workflow:{call(ada, 'get', {'refs': [pad]})['items'][0]['workflow_id']}"
    refs = (
        ["context:c", memory, workflow, pad] if is_container_first else [memory, pad, "context:c", workflow]
    )
    assert delete(ada, *refs, dry_run=True)
    assert results(ada, *refs) == ["deleted"] * 4
    assert tallied(apollo) == counted(apollo)
    index_is_right(apollo)


def test_what_a_decision_superseded_stays_without_a_successor(ada: Caller, apollo: Project) -> None:
    for key in ("new", "old", "older"):
        call(ada, "decision", {"action": "set", "key": key, "value": "v"})
    for old, new in (("older", "old"), ("old", "new")):
        call(ada, "decision", {"action": "deprecate", "key": old, "superseded_by": new})
    assert results(ada, "decision:new", "decision:old") == ["deleted", "deleted"]
    older = call(ada, "decision", {"action": "get", "key": "older", "include": ["links"]})["decision"]
    assert "superseded_by" not in older or older["superseded_by"] is None
    index_is_right(apollo)


def test_rows_may_be_objects(ada: Caller) -> None:
    ref = made(ada, "memory")
    answer = call(ada, "delete", {"refs": [ref], "format": "objects"})
    assert answer == {"items": [{"ref": ref, "result": "deleted"}], "count": 1}


# -- What is not -----------------------------------------------------------------------------------


def test_each_ref_is_refused_by_itself(ada: Caller, member: Caller, apollo: Project) -> None:
    pad = made(ada, "scratchpad")
    workflow = call(ada, "get", {"refs": [pad]})["items"][0]["workflow_id"]
    call(ada, "scratchpad", {"action": "close_workflow", "workflow_id": workflow})
    refs = [made(ada, kind) for kind in ("memory", "decision", "session", "constraint")]
    asked = [*refs, pad, "memory:99", "nonsense", "memory:x"]
    rows = delete(member, *asked)
    assert [row[0] for row in rows] == asked
    assert [row[1] for row in rows] == [
        *("deleted", "not_allowed", "not_allowed", "not_allowed"),
        *("conflict", "not_found", "not_found", "not_found"),
    ]
    notes = [row[2] for row in rows]
    parts = ("", "'admin'", "another agent's", "constraint deactivate", "closed", "99", "not a ref", "'x'")
    assert all(part in note for part, note in zip(parts, notes, strict=True))
    assert deleted_events(apollo) == [refs[0]]


def test_its_own_session_is_deleted_with_write_and_any_with_admin(ada: Caller, member: Caller) -> None:
    own, others = made(member, "session"), made(ada, "session", 1)
    assert results(member, own, others) == ["deleted", "not_allowed"]
    assert results(ada, others) == ["deleted"]


@pytest.mark.parametrize(
    ("kind", "call_of"),
    [
        ("constraint", {"tool": "constraint", "action": "deactivate"}),
        ("message", {"tool": "hub", "action": "clear"}),
        ("change", {"tool": "hub", "action": "clear"}),
        ("lease", {"tool": "file", "action": "release"}),
        ("template", None),
    ],
)
def test_what_is_kept_names_what_to_do_instead(
    ada: Caller, apollo: Project, kind: str, call_of: dict[str, str] | None
) -> None:
    ref = made(ada, kind)
    before = stored(apollo)
    error = refusal(ada, ref)
    assert (error.code, error.details["call"]) == ("invalid", call_of)
    assert f"A {kind} is not deleted by its ref" in error.message
    assert stored(apollo) == before


def test_every_kind_that_get_opens_says_how_it_is_deleted() -> None:
    silent = [noun.kind for noun in registry.all_nouns() if noun.open and not noun.deletion]
    assert silent == []
    deletable = {n.kind for n in registry.all_nouns() if isinstance(n.deletion, registry.Deletion)}
    assert deletable == {*KINDS}


def test_none_deleted_is_an_error_with_all_rows(ada: Caller, member: Caller, apollo: Project) -> None:
    ref = made(ada, "decision")
    before = stored(apollo)
    error = refusal(member, ref, "memory:99")
    assert (error.code, error.message) == ("not_allowed", "None of the 2 was deleted.")
    assert [row[:2] for row in error.details["rows"]] == [[ref, "not_allowed"], ["memory:99", "not_found"]]
    assert "Ask an administrator" in error.hint
    assert stored(apollo) == before


@pytest.mark.parametrize(
    ("refs", "error", "named"),
    [
        ([], InvalidInput, "0 entries"),
        ([f"memory:{n}" for n in range(51)], InvalidInput, "51 entries"),
        (["api/auth"], InvalidInput, "is not a ref"),
        (["17"], InvalidInput, "is not a ref"),
        (["unknown:1"], InvalidInput, "unknown"),
        (["agent:ada"], InvalidInput, "agent"),
        (["memory:0"], NotFound, "no memory '0'"),
        ([f"memory:{2**63}"], NotFound, "no memory"),
        (["context:nowhere"], NotFound, "no context 'nowhere'"),
        (["session:nobody"], NotFound, "no session 'nobody'"),
        (["decision:k"], NotFound, "no decision 'k'"),
        (["snapshot:1e5"], NotFound, "no snapshot"),
    ],
    ids=str,
)
def test_wrong_refs_are_named_and_nothing_is_written(
    ada: Caller, apollo: Project, refs: list[str], error: type[CtxhubError], named: str
) -> None:
    before = stored(apollo)
    refused = refusal(ada, *refs)
    assert isinstance(refused, error)
    assert named in refused.message
    assert stored(apollo) == before


def test_a_pad_of_a_closed_workflow_conflicts(ada: Caller) -> None:
    pad = made(ada, "scratchpad")
    workflow = call(ada, "get", {"refs": [pad]})["items"][0]["workflow_id"]
    call(ada, "scratchpad", {"action": "close_workflow", "workflow_id": workflow})
    error = refusal(ada, pad)
    assert isinstance(error, Conflict)
    assert "reopen=true" in error.hint


@pytest.mark.parametrize("sent", ['["{0}", "{1}"]', "{0}, {1}", "{0},{1}"])
def test_refs_as_text_are_read(ada: Caller, sent: str) -> None:
    refs = [made(ada, "memory"), made(ada, "snapshot")]
    answer = call(ada, "delete", {"refs": sent.format(*refs)})
    assert answer["rows"] == [[ref, "deleted"] for ref in refs]


@pytest.mark.parametrize("given", ["id", "ids"])
def test_another_name_of_refs_is_mended(ada: Caller, given: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        call(ada, "delete", {given: "memory:4"})
    assert refused.value.details["did_you_mean"] == {given: "refs"}


@pytest.mark.parametrize(
    ("named", "ref"),
    [
        ({"key": "api/auth"}, "decision:api/auth"),
        ({"context": "shop"}, "context:shop"),
        ({"workflow_id": 3}, "workflow:3"),
        ({"memory_id": "memory:4"}, "memory:4"),
    ],
)
def test_what_is_named_otherwise_is_shown_as_a_ref(ada: Caller, named: dict[str, Any], ref: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        call(ada, "delete", named)
    assert refused.value.details["call"] == {"tool": "delete", "refs": [ref]}


# -- Rights ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_another_projects_objects_are_not_found(ada: Caller, cy: Caller, apollo: Project, kind: str) -> None:
    ref = made(ada, kind)
    before = stored(apollo)
    assert refusal(cy, ref).code == "not_found"
    assert results(cy, ref, dry_run=True) == ["not_found"]
    assert stored(apollo) == before


def test_the_scope_admin_alone_deletes_what_needs_it(ada: Caller) -> None:
    admin = replace(ada, scopes=frozenset({ADMIN}))
    assert results(admin, made(ada, "decision"), made(ada, "memory")) == ["deleted", "not_allowed"]


def test_a_reader_deletes_nothing(ada: Caller, reader: Caller, apollo: Project) -> None:
    ref = made(ada, "memory")
    before = stored(apollo)
    error = refusal(reader, ref)
    assert isinstance(error, NotAllowed)
    assert "'write'" in error.message
    assert stored(apollo) == before


def test_a_dry_run_tells_what_would_happen_and_writes_nothing(
    ada: Caller, member: Caller, reader: Caller, apollo: Project
) -> None:
    refs = [made(ada, kind) for kind in ("memory", "decision", "constraint")]
    before = stored(apollo)
    assert results(ada, *refs, dry_run=True) == ["deleted", "deleted", "not_allowed"]
    assert results(member, *refs, dry_run="true") == ["deleted", "not_allowed", "not_allowed"]
    assert results(reader, *refs, dry_run=True) == ["not_allowed"] * 3
    assert stored(apollo) == before


def test_a_dry_run_needs_read(ada: Caller) -> None:
    ref = made(ada, "memory")
    error = refusal(replace(ada, scopes=frozenset({WRITE})), ref, dry_run=True)
    assert (error.code, "'read'" in error.message) == ("not_allowed", True)


def test_a_pinned_token_deletes_as_its_agent(ada: Caller, member: Caller) -> None:
    pinned = replace(member, pinned=True)
    own, others = made(member, "session"), made(ada, "session", 1)
    assert refusal(pinned, own, agent="ada").code == "not_allowed"
    assert results(pinned, own, others) == ["deleted", "not_allowed"]


def test_an_unpinned_one_may_speak_as_the_sessions_agent(ada: Caller, member: Caller) -> None:
    assert results(member, made(ada, "session"), agent="Ada") == ["deleted"]


# -- Large objects ---------------------------------------------------------------------------------


@pytest.mark.parametrize("request_id", [None, "r-1"])
def test_large_ones_are_deleted_in_several_transactions(
    ada: Caller, apollo: Project, monkeypatch: pytest.MonkeyPatch, request_id: str | None
) -> None:
    pads = [made(ada, "scratchpad", n) for n in range(5)]
    Scratchpad.objects.in_project(apollo).update(size=3 * 1024 * 1024)
    batches: list[int] = []

    def counting(delete: Any) -> Any:
        def delete_rows(caller: Caller, rows: Any) -> None:
            batches.append(len(rows))
            delete(caller, rows)

        return delete_rows

    noun = registry.find_noun("scratchpad")
    assert noun
    assert isinstance(noun.deletion, registry.Deletion)
    counted_deletion = replace(noun.deletion, delete=counting(noun.deletion.delete))
    monkeypatch.setitem(registry._nouns, "scratchpad", replace(noun, deletion=counted_deletion))
    memory = made(ada, "memory")
    asked = {"refs": [memory, *pads, "scratchpad:99"]}
    rows = call(ada, "delete", asked, request_id=request_id)["rows"]
    assert [row[1] for row in rows] == ["deleted"] * 6 + ["not_found"]
    assert batches == [2, 2, 1]
    assert deleted_events(apollo) == sorted([memory, *pads])
    assert tallied(apollo) == counted(apollo)


def test_large_containers_tell_what_went_along(ada: Caller, apollo: Project) -> None:
    for n in range(3):
        for title in "ab":
            call(ada, "memory", {"action": "add", "title": title, "content": "x", "context": f"c{n}"})
    Memory.objects.in_project(apollo).update(tokens=3 * 1024 * 1024)
    refs = [f"context:c{n}" for n in range(3)]
    expected = [[ref, "deleted", "with 2 memories"] for ref in refs]
    assert call(ada, "delete", {"refs": refs}, request_id="r-1")["rows"] == expected
    assert len(deleted_events(apollo)) == 3
    assert tallied(apollo) == counted(apollo)


# -- Retries, and what it costs --------------------------------------------------------------------


def test_a_retry_answers_the_first_result(ada: Caller, apollo: Project) -> None:
    ref = made(ada, "memory")
    first = call(ada, "delete", {"refs": [ref, "memory:99"]}, request_id="r-1")
    assert call(ada, "delete", {"refs": [ref, "memory:99"]}, request_id="r-1") == first
    assert deleted_events(apollo) == [ref]
    with pytest.raises(Conflict):
        call(ada, "delete", {"refs": [ref]}, request_id="r-1")


def statements(caller: Caller, kind: str, count: int) -> int:
    refs = [made(caller, kind, n) for n in range(count)]
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert results(caller, *refs) == ["deleted"] * count
    return len(captured)


@pytest.mark.parametrize("kind", KINDS)
def test_many_take_hardly_more_statements_than_few(ada: Caller, kind: str) -> None:
    """A container is looked into: one statement each."""
    few, many = statements(ada, kind, 2), statements(ada, kind, 20)
    assert many - few <= (18 if kind in ("context", "workflow") else 0)
