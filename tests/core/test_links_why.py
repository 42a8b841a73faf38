"""What why, chain and impact say of the reasons: of what was asked for, and of the rows around it."""

from collections.abc import Callable
from typing import Any

import pytest

from ctxhub.core.kit.answers import size
from ctxhub.core.kit.caller import Caller
from ctxhub.toolbox.dispatch import call
from memory.constraints.services import add_constraint
from memory.decisions.services import deprecate_decision, set_decision
from sessions.sittings.services import save_session
from tests.core.linked import decide, remember, rest_on
from tests.hub import McpClient, RestClient
from tests.memory.snapshots import save
from tracking.leases.services import acquire_lease

WALKS = ("why", "chain", "impact")
LONG = "Sessions expire, because tokens rotate. " * 200


def decision(ada: Caller) -> str:
    set_decision(caller=ada, key="store", value="Redis", rationale="Old.")
    set_decision(caller=ada, key="store", value="PostgreSQL", rationale="Redis lost\nthem twice.")
    return "decision:store"


def deprecated(ada: Caller) -> str:
    decision(ada)
    deprecate_decision(caller=ada, key="store", reason="Too slow.")
    return "decision:store"


def revived(ada: Caller) -> str:
    deprecated(ada)
    set_decision(caller=ada, key="store", value="PostgreSQL", status="active")
    return "decision:store"


def constraint(ada: Caller) -> str:
    made = add_constraint(caller=ada, category="security", text="No secrets in logs.", reason="An audit.")
    return f"constraint:{made['id']}"


def lease(ada: Caller) -> str:
    return f"lease:{acquire_lease(caller=ada, paths=['src/**'], reason='Moving files.')['lease_id']}"


def session(ada: Caller) -> str:
    return f"session:{save_session(caller=ada, session='s', summary='Moved the sessions.')['session']}"


def snapshot(ada: Caller) -> str:
    return f"snapshot:{save(ada, rationale='Nobody may be signed out.', summary='Moved.')}"


def snapshot_without_rationale(ada: Caller) -> str:
    return f"snapshot:{save(ada, summary='Moved.')}"


REASONS: list[tuple[Callable[[Caller], str], str]] = [
    (decision, "Redis lost\nthem twice."),
    (deprecated, "Deprecated: Too slow.\n\nRedis lost\nthem twice."),
    (revived, "Redis lost\nthem twice."),
    (constraint, "An audit."),
    (lease, "Moving files."),
    (session, "Moved the sessions."),
    (snapshot, "Nobody may be signed out."),
    (snapshot_without_rationale, "Moved."),
]


def walk(caller: Caller, action: str, ref: str, **rest: Any) -> dict[str, Any]:
    return call(caller, "snapshot", {"action": action, "id": ref, "format": "objects", **rest})


@pytest.mark.parametrize(("make", "why"), REASONS)
def test_the_reason_of_what_was_asked_for_is_read_first(
    ada: Caller, make: Callable[[Caller], str], why: str
) -> None:
    ref = make(ada)
    for action in ("chain", "impact", *(["why"] if not ref.startswith("snapshot") else [])):
        answer = walk(ada, action, ref)
        assert next(iter(answer.items())) == ("why", why)


def test_what_nobody_gave_a_reason_for_has_no_such_key(ada: Caller) -> None:
    [plan], [note] = decide(ada, "plan"), remember(ada)
    rest_on(ada, plan, note)
    for action in WALKS:
        for ref in (plan, note, "template:deprecation"):
            answer = walk(ada, action, ref)
            assert "why" not in answer
            assert all("why" not in row for row in answer["items"])


def test_a_row_has_its_reason_in_one_line(ada: Caller) -> None:
    [note] = remember(ada)
    rest_on(ada, decision(ada), note)
    rows = walk(ada, "chain", note)["items"]
    assert [row["why"] for row in rows] == ["Redis lost them twice.", None]
    assert walk(ada, "why", "decision:store")["items"][0]["why"] == "Redis lost them twice."
    assert list(rows[0])[-1] == "why"


def test_a_long_reason_is_whole_before_the_rows_and_cut_in_them(ada: Caller) -> None:
    set_decision(caller=ada, key="ttl", value="15", rationale=LONG)
    answer = walk(ada, "why", "decision:ttl")
    assert answer["why"] == LONG
    assert answer["items"][0]["why"] == LONG[:200].rstrip() + "…"
    row_id = save(ada, rationale=LONG)
    assert walk(ada, "chain", f"snapshot:{row_id}")["why"] == LONG


def test_a_row_does_not_repeat_its_summary_as_its_reason(ada: Caller) -> None:
    [note] = remember(ada)
    rest_on(ada, session(ada), snapshot_without_rationale(ada), note)
    assert all("why" not in row for row in walk(ada, "chain", note)["items"])


def test_the_reason_leaves_half_of_a_budget_for_the_rows(ada: Caller) -> None:
    set_decision(caller=ada, key="ttl", value="15", rationale=LONG)
    notes = remember(ada, *(f"note {n}" for n in range(30)))
    for note in notes:
        rest_on(ada, "decision:ttl", note)
    for budget in (200, 600, 1_000):
        answer = walk(ada, "impact", "decision:ttl", max_tokens=budget)
        assert size(answer) <= budget
        assert answer["why"].endswith("…")
        assert answer["truncated"]
        assert answer["items"]
    alone = walk(ada, "why", "decision:ttl", max_tokens=1_000)
    assert size(alone) > 900


def test_why_of_a_snapshot_says_why_of_what_it_rests_on(ada: Caller) -> None:
    cause = save(ada, rationale="Redis\nlost them.", summary="Measured.")
    base = save(ada, rationale="Asked for.", summary="Base.")
    last = save(ada, rationale="So.", caused_by=cause, dependencies=[base, plain := save(ada, summary="p")])
    why = walk(ada, "why", str(last))
    assert why["rationale"] == "So."
    assert why["caused_by"] == {"id": cause, "summary": "Measured.", "why": "Redis lost them."}
    assert [(row["id"], row.get("why")) for row in why["dependencies"]["items"]] == [
        (base, "Asked for."),
        (plain, None),
    ]
    assert call(ada, "snapshot", {"action": "get", "id": last})["caused_by"] == {
        "id": cause,
        "summary": "Measured.",
    }


def test_agents_and_programs_read_the_same_reason(ada_mcp: McpClient, ben_rest: RestClient) -> None:
    ada_mcp.call("decision", "set", key="store", value="PostgreSQL", rationale="Redis lost them.")
    row_id = ada_mcp.call("snapshot", "save", content="x", rationale="A test.", dependencies=[])["id"]
    ada_mcp.call("memory", "relate", source=f"snapshot:{row_id}", target="decision:store", relation="blocks")
    for action in WALKS:
        body = ben_rest.get(f"links/{action}/", ref="decision:store").body
        assert next(iter(body)) == "why"
        assert (
            body["why"] == ada_mcp.call("snapshot", action, id="decision:store")["why"] == "Redis lost them."
        )
    assert ben_rest.get("links/chain/", ref="decision:store").body["items"][0]["why"] == "A test."
    assert ben_rest.get(f"snapshots/{row_id}/impact/").body["why"] == "A test."
    assert ben_rest.get(f"snapshots/{row_id}/why/").body["rationale"] == "A test."
    assert "why" not in ben_rest.get("links/why/", ref="template:deprecation").body
