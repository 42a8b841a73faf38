"""The tool `get`: anything by its ref."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.models import SearchEntry
from ctxhub.core.registry import searched_nouns
from ctxhub.core.text.token_count import count_tokens
from ctxhub.toolbox.dispatch import as_text, call
from memory.constraints.services import add_constraint
from memory.contexts.queries import find_context
from memory.decisions.services import set_decision
from memory.memories.services import add_memory
from memory.scratchpads.services import create_scratchpad
from memory.snapshots.services import save_snapshot
from memory.workflows.services import create_workflow
from messaging.messages.services import send_message
from sessions.sittings.services import save_session
from tests.hub import RestClient
from tracking.changes.services import record_change


def get(caller: Caller, *refs: Any, **rest: Any) -> dict[str, Any]:
    return call(caller, "get", {"refs": list(refs), **rest})


def test_found_refs_are_returned_in_the_given_order_and_the_others_as_missing(ada: Caller) -> None:
    for key in ("a", "b"):
        set_decision(caller=ada, key=key, value=key.upper())
    answer = get(ada, "decision:b", "decision:nothing", "decision:a")
    assert [(item["ref"], item["value"]) for item in answer["items"]] == [
        ("decision:b", "B"),
        ("decision:a", "A"),
    ]
    assert answer["missing"] == ["decision:nothing"]


def test_a_digest_is_short(ada: Caller) -> None:
    set_decision(caller=ada, key="a", value="x" * 300, rationale="Why.")
    [item] = get(ada, "decision:a", detail="digest")["items"]
    assert item == {"ref": "decision:a", "value": "x" * 200 + "…", "version": "1.0.0", "status": "active"}
    [item] = get(ada, "decision:a")["items"]
    assert (item["value"], item["rationale"]) == ("x" * 300, "Why.")


def write_everything(caller: Caller) -> dict[str, str]:
    """Writes one object of each kind that search finds. Returns their refs by kind."""
    set_decision(caller=caller, key="a", value="JWT")
    constraint = add_constraint(caller=caller, category="security", text="No secrets in logs.")
    message = send_message(caller=caller, text="Please look.")
    change = record_change(caller=caller, path="src/app.py", change="created", description="Begun.")
    workflow = create_workflow(caller=caller, name="Refactoring")["workflow_id"]
    pad = create_scratchpad(caller=caller, workflow_id=workflow, name="notes", content="A leak.")
    memory = add_memory(caller=caller, title="Pools", content="They leak.", context="work")
    session = save_session(caller=caller, summary="The pool is half mended.")
    snapshot = save_snapshot(caller=caller, content="The pool leaks.", source="mcp")
    context = find_context(caller.project_id, "work")
    assert context
    return {
        "decision": "decision:a",
        "workflow": f"workflow:{workflow}",
        "scratchpad": f"scratchpad:{pad['scratchpad_id']}",
        "memory": f"memory:{memory['id']}",
        "context": f"context:{context.id}",
        "constraint": f"constraint:{constraint['id']}",
        "message": f"message:{message['id']}",
        "change": f"change:{change['id']}",
        "resource": "resource:src/app.py",
        "snapshot": f"snapshot:{snapshot['id']}",
        "session": f"session:{session['session']}",
    }


@pytest.mark.parametrize("detail", ["full", "digest"])
def test_get_returns_every_kind_that_search_finds(ada: Caller, detail: str) -> None:
    refs = write_everything(ada)
    assert set(refs) == {noun.kind for noun in searched_nouns()}
    found = SearchEntry.objects.in_project(ada.project).values_list("ref", flat=True)
    assert set(found) == set(refs.values())
    answer = get(ada, *refs.values(), detail=detail)
    assert ([item["ref"] for item in answer["items"]], answer["missing"]) == (list(refs.values()), [])
    items = {item["ref"].partition(":")[0]: item for item in answer["items"]}
    assert items["decision"]["value"] == "JWT"
    assert items["constraint"]["text"] == "No secrets in logs."
    assert items["message"]["text"] == "Please look."
    assert (items["workflow"]["name"], items["workflow"]["pads"]) == ("Refactoring", 1)
    assert items["scratchpad"]["content"] == "A leak."
    assert items["memory"]["title"] == "Pools"
    assert items["context"]["name"] == "work"
    assert (items["change"]["path"], items["change"]["description"]) == ("src/app.py", "Begun.")
    assert items["resource"]["changes"][0]["description"] == "Begun."
    assert items["snapshot"]["summary"] == "The pool leaks."
    assert items["session"]["summary"] == "The pool is half mended."


@pytest.mark.parametrize("detail", ["full", "digest"])
def test_nothing_of_another_project_is_returned(ada: Caller, cy: Caller, detail: str) -> None:
    refs = list(write_everything(ada).values())
    assert get(cy, *refs, detail=detail) == {"items": [], "missing": refs}


def test_the_digest_of_a_change_has_its_description_cut(ada: Caller) -> None:
    made = record_change(caller=ada, path="a", change="created", description="x" * 300, layer="data")
    [item] = get(ada, f"change:{made['id']}", detail="digest")["items"]
    assert item["description"] == "x" * 200 + "…"
    [item] = get(ada, f"change:{made['id']}")["items"]
    assert item == {
        "ref": f"change:{made['id']}",
        "path": "a",
        "change": "created",
        "by": "ada",
        "layer": "data",
        "description": "x" * 300,
        "at": item["at"],
    }


@pytest.mark.parametrize("ref", [" decision:a ", "DECISION:a", "Decision: a"])
def test_a_ref_may_be_written_loosely(ada: Caller, ref: str) -> None:
    set_decision(caller=ada, key="a", value="x")
    assert get(ada, ref)["items"][0]["ref"] == "decision:a"


def test_a_key_may_hold_colons_and_slashes(ada: Caller) -> None:
    set_decision(caller=ada, key="a:b/c:d", value="x")
    assert get(ada, "decision:a:b/c:d")["items"][0]["value"] == "x"


def test_a_single_ref_is_read_as_a_list(ada: Caller) -> None:
    set_decision(caller=ada, key="a", value="x")
    for refs in ("decision:a", '["decision:a"]', ["decision:a", "decision:a"]):
        assert len(call(ada, "get", {"refs": refs})["items"]) == 1


@pytest.mark.parametrize(
    "refs",
    [
        [],
        ["17"],
        ["memory 17"],
        [":a"],
        ["decision:"],
        ["decision: "],
        ["decisions:a"],
        ["tag:api"],
        ["nothing:1"],
        ["decision:\x00"],
    ],
)
def test_only_invalid_refs_are_refused(ada: Caller, refs: list[str]) -> None:
    with pytest.raises(InvalidInput, match="ref"):
        get(ada, *refs)


@pytest.mark.parametrize("bad", ["b", "decision:", "tag:api", "nothing:1", "17"])
def test_one_bad_ref_does_not_fail_the_others(ada: Caller, bad: str) -> None:
    set_decision(caller=ada, key="a", value="x")
    answer = get(ada, bad, "decision:a", "decision:nothing")
    assert [item["ref"] for item in answer["items"]] == ["decision:a"]
    assert answer["missing"] == [bad, "decision:nothing"]
    assert repr(bad.partition(":")[0] if bad in ("tag:api", "nothing:1") else bad) in answer["hint"]


def test_valid_refs_get_no_hint(ada: Caller) -> None:
    set_decision(caller=ada, key="a", value="x")
    assert "hint" not in get(ada, "decision:a", "decision:nothing")


def test_one_bad_ref_does_not_fail_the_others_over_rest(ada_rest: RestClient) -> None:
    ada_rest.post("decisions/", {"key": "a", "value": "x"})
    reply = ada_rest.post("call/get/", {"refs": ["decision:a", "memory 17"]})
    assert (reply.status, reply.body["missing"]) == (200, ["memory 17"])
    assert "is not a ref" in reply.body["hint"]
    assert ada_rest.post("call/get/", {"refs": ["memory 17"]}).status == 400


def test_at_most_50_refs_are_accepted(ada: Caller) -> None:
    assert len(get(ada, *(f"decision:{n}" for n in range(50)))["missing"]) == 50
    with pytest.raises(InvalidInput, match="51"):
        get(ada, *(f"decision:{n}" for n in range(51)))


@pytest.mark.parametrize("budget", [40, 100, 500, 2_000, 20_000, 10**9])
def test_the_answer_stays_within_its_budget_and_counts_omitted_items(ada: Caller, budget: int) -> None:
    refs = [f"decision:k{n}" for n in range(50)]
    for n in range(50):
        set_decision(caller=ada, key=f"k{n}", value="Some words about it. " * 30, rationale="Why. " * 20)
    answer = get(ada, *refs, max_tokens=budget)
    assert count_tokens(as_text(answer)) <= min(max(budget, 100), 20_000)
    assert answer["items"]
    assert len(answer["items"]) + answer.get("omitted", 0) == 50
    assert [item["ref"] for item in answer["items"]] == refs[: len(answer["items"])]


def test_a_text_too_long_for_any_answer_is_cut_and_other_cut_fields_are_named(ada: Caller) -> None:
    value, rationale = "a1 b2\n" * 8_000, "more words\n" * 5_900
    set_decision(caller=ada, key="a", value=value, rationale=rationale, tags=["api"])
    answer = get(ada, "decision:a")
    assert 19_500 < count_tokens(as_text(answer)) <= 20_000
    [item] = answer["items"]
    marks = {name: item[name] for name in ("truncated", "total_lines", "next_lines", "also_cut")}
    assert marks == {name: answer[name] for name in marks}
    assert (marks["truncated"], marks["total_lines"], marks["also_cut"]) == (True, 8_000, ["rationale"])
    assert (item["tags"], item["rationale"].endswith("…")) == (["api"], True)
    parts, lines = [item["value"]], marks["next_lines"]
    while lines:
        answer = get(ada, "decision:a", lines=lines)
        parts.append(answer["items"][0]["value"])
        lines = answer.get("next_lines")
    assert "".join(parts) == value


def test_another_cut_field_is_continued_by_its_name(ada: Caller) -> None:
    value, rationale = "many words\n" * 4_500, "more words\n" * 5_000
    set_decision(caller=ada, key="a", value=value, rationale=rationale)
    answer = get(ada, "decision:a")
    [item] = answer["items"]
    assert item["value"] == value
    assert answer["next_lines"].startswith("rationale:")
    [rest] = get(ada, "decision:a", lines=answer["next_lines"])["items"]
    assert item["rationale"] + rest["rationale"] == rationale
    assert "value" not in rest


def test_each_cut_item_has_its_own_next_lines(ada: Caller) -> None:
    long = "many words\n" * 5_900
    for key, value in (("a", "short"), ("b", long), ("c", long), ("d", "short")):
        set_decision(caller=ada, key=key, value=value)
    answer = get(ada, *(f"decision:{key}" for key in "abcd"))
    assert count_tokens(as_text(answer)) <= 20_000
    assert ["next_lines" in item for item in answer["items"]] == [False, True, True, False]
    assert {"total_lines", "next_lines", "omitted"}.isdisjoint(answer)
    for item in answer["items"][1:3]:
        [rest] = get(ada, item["ref"], lines=item["next_lines"])["items"]
        assert item["value"] + rest["value"] == long


def test_items_without_room_are_omitted(ada: Caller) -> None:
    for n in range(10):
        set_decision(caller=ada, key=f"k{n}", value="many words\n" * 5_900)
    answer = get(ada, *(f"decision:k{n}" for n in range(10)))
    assert (len(answer["items"]), answer["omitted"]) == (4, 6)


def test_a_long_list_of_missing_refs_fits_too(ada: Caller) -> None:
    answer = get(ada, *(f"resource:{n}{'効' * 900}" for n in range(50)))
    assert (len(answer["missing"]), answer["items"]) == (50, [])
    assert count_tokens(as_text(answer)) <= 20_000


# -- Parts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "text", "lines"),
    [
        ({"lines": "2-3"}, "two\nthree", "2-3"),
        ({"lines": "2"}, "two", "2-2"),
        ({"lines": 2}, "two", "2-2"),
        ({"lines": "2-"}, "two\nthree\nfour", "2-4"),
        ({"lines": "3@2-"}, "hree\nfour", "3@2-4"),
        ({"lines": "3@2"}, "hree", "3@2-3"),
        ({"lines": "3@99-4"}, "four", "4-4"),
        ({"lines": "VALUE: 4"}, "four", "4-4"),
        ({"lines": "9-"}, "", None),
        ({"tail": 2}, "three\nfour", "3-4"),
    ],
)
def test_a_part_names_its_lines(ada: Caller, arguments: dict[str, Any], text: str, lines: str | None) -> None:
    set_decision(caller=ada, key="a", value="one\ntwo\nthree\nfour", rationale="long " * 100, layer="data")
    [item] = get(ada, "decision:a", **arguments)["items"]
    assert (item["value"], item.get("lines"), item["total_lines"]) == (text, lines, 4)
    # With the version, a reader of several parts notices a change between them.
    assert (item["version"], item["layer"], "rationale" in item) == ("1.0.0", "data", False)


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("rationale", "one\ntwo"),
        ("alternatives", '["sessions",{"option":"cookies"}]'),
        ("metadata", '{"é":[1,2]}'),
        ("status", "active"),
    ],
)
def test_lines_of_any_field_are_read_as_text_or_json(ada: Caller, field: str, text: str) -> None:
    set_decision(
        caller=ada,
        key="a",
        value="x",
        rationale="one\ntwo",
        alternatives=["sessions", {"option": "cookies"}],
        metadata={"é": [1, 2]},
    )
    [item] = get(ada, "decision:a", lines=f"{field}:1-")["items"]
    assert item[field] == text
    [item] = get(ada, "decision:a", lines=f"{field}:1@3-")["items"]
    assert item[field] == text[2:]


def test_a_number_has_no_parts(ada: Caller) -> None:
    set_decision(caller=ada, key="a", value=0)
    [item] = get(ada, "decision:a", lines="3-")["items"]
    assert item["value"] == 0


@pytest.mark.parametrize(
    ("refs", "arguments", "message"),
    [
        (["decision:a", "decision:b"], {"lines": "1-"}, "one ref"),
        (["decision:a"], {"tail": 1, "detail": "digest"}, "one ref"),
        (["decision:a"], {"lines": "1-", "tail": 1}, "exclude one another"),
        (["decision:a"], {"tail": 0}, "at least 1"),
        (["decision:a"], {"lines": "x"}, "is no range of lines"),
        (["decision:a"], {"lines": "nothing:1-"}, "value:1-"),
        (["workflow:1"], {"lines": "1-"}, "name:1-"),
    ],
)
def test_an_invalid_part_is_refused(
    ada: Caller, refs: list[str], arguments: dict[str, Any], message: str
) -> None:
    set_decision(caller=ada, key="a", value="x")
    workflow = create_workflow(caller=ada, name="w")["workflow_id"]
    with pytest.raises(InvalidInput, match=message):
        get(ada, *(ref.replace(":1", f":{workflow}") for ref in refs), **arguments)


@pytest.mark.parametrize("budget", [0, -1, "many", True, None])
def test_a_budget_is_a_number(ada: Caller, budget: Any) -> None:
    set_decision(caller=ada, key="a", value="x")
    if budget is None:
        assert get(ada, "decision:a", max_tokens=None)["items"]
        return
    with pytest.raises(InvalidInput, match="max_tokens"):
        get(ada, "decision:a", max_tokens=budget)
