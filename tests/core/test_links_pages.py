"""Chain and impact in pages: together they are the whole, in one order, also while others write."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.toolbox.dispatch import call
from memory.decisions.services import set_decision
from tests.core.linked import decide, remember, rest_on
from tests.hub import McpClient, RestClient
from tests.memory.snapshots import link, save, write, write_chain

WALKS = ("chain", "impact")


def page(caller: Caller, action: str, ref: str | int, **rest: Any) -> dict[str, Any]:
    return call(caller, "snapshot", {"action": action, "id": str(ref), "format": "objects", **rest})


def pages(caller: Caller, action: str, ref: str | int, **rest: Any) -> Iterator[dict[str, Any]]:
    following: dict[str, Any] = {}
    while True:
        answer = page(caller, action, ref, **rest, **following)
        yield answer
        if "next" not in answer:
            return
        following = {"cursor": answer["next"]}


def rows(found: Iterator[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(row["id"], row["depth"], row.get("link")) for one in found for row in one["items"]]


def web(ada: Caller) -> tuple[str, str]:
    """Decisions, memories and snapshots that follow from one another; the root and the last."""
    [root], [note] = decide(ada, "root"), remember(ada, "note")
    first, second, last = (f"snapshot:{save(ada)}" for _ in range(3))
    for many in (first, second, note):
        rest_on(ada, root, many, last)
    return root, last


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_are_the_whole_in_its_order(ada: Caller, limit: int) -> None:
    root, last = web(ada)
    for action, ref in (("chain", last), ("impact", root)):
        whole = page(ada, action, ref)
        found = list(pages(ada, action, ref, limit=limit))
        assert rows(iter(found)) == rows(iter([whole]))
        assert all(one["count"] == limit for one in found[:-1])
        assert "next" not in whole


def test_a_long_chain_is_read_from_its_root(ada: Caller) -> None:
    ids = write_chain(ada, 500)
    found = rows(pages(ada, "chain", ids[-1], limit=120))
    assert [row[:2] for row in found] == [(row_id, n) for n, row_id in enumerate(ids)]
    assert [row[0] for row in rows(pages(ada, "impact", ids[0], limit=120))] == ids[1:]


def test_a_page_that_a_budget_cuts_leads_to_the_next(ada: Caller) -> None:
    ids = write_chain(ada, 30)
    found = list(pages(ada, "chain", ids[-1], max_tokens=200))
    assert len(found) > 2
    assert [row[0] for row in rows(iter(found))] == ids


def test_the_reason_stands_on_the_first_page(ada: Caller) -> None:
    first = save(ada)
    last = save(ada, caused_by=first, rationale="So.")
    found = list(pages(ada, "chain", last, limit=1))
    assert [one.get("why") for one in found] == ["So.", None]


def test_what_is_added_meanwhile_repeats_and_hides_nothing(ada: Caller) -> None:
    root, *others = write(ada, 7)
    link(others, [root] * 6)
    walk = pages(ada, "impact", root, limit=2)
    seen: list[int] = []
    for answer in walk:
        if len(seen) < 8:
            save(ada, caused_by=others[0])
            save(ada, caused_by=root)
        seen += [row["id"] for row in answer["items"]]
    assert [one for one in seen if one in others] == others
    assert len(seen) == len(set(seen)) > len(others)


def test_a_root_that_is_found_meanwhile_leaves_the_depths(ada: Caller) -> None:
    ids = write_chain(ada, 4)
    walk = pages(ada, "chain", ids[-1], limit=2)
    first = next(walk)
    [plan] = decide(ada, "plan")
    rest_on(ada, plan, f"snapshot:{ids[0]}")
    assert [row[:2] for row in rows(iter([first, *walk]))] == [(row_id, n) for n, row_id in enumerate(ids)]
    assert page(ada, "chain", ids[-1])["items"][0]["id"] == plan


def test_a_change_of_an_object_does_not_move_it(ada: Caller) -> None:
    [note] = remember(ada)
    refs = decide(ada, "a", "b", "c")
    for ref in refs:
        rest_on(ada, ref, note)
    walk = pages(ada, "chain", note, limit=1)
    first = next(walk)
    set_decision(caller=ada, key="a", value="another")
    assert [row[0] for row in rows(iter([first, *walk]))] == [*refs, note]


def test_a_page_runs_as_many_statements_as_the_whole(ada: Caller) -> None:
    ids = write_chain(ada, 60)
    page(ada, "chain", ids[-1])
    counts = []
    for limit in (5, 50, 1_000):
        with CaptureQueriesContext(connection) as captured:
            page(ada, "chain", ids[-1], limit=limit)
        counts.append(len(captured))
    assert len(set(counts)) == 1


def test_a_cursor_that_the_walk_did_not_give_is_refused(ada: Caller) -> None:
    ids = write_chain(ada, 4)
    chain = page(ada, "chain", ids[-1], limit=1)["next"]
    other = page(ada, "chain", ids[-2], limit=1)["next"]
    listed = call(ada, "snapshot", {"action": "list", "limit": 1})["next"]
    wrong = [
        ("impact", chain),
        *(("chain", cursor) for cursor in (other, listed, chain[: len(chain) // 3], "x")),
    ]
    for action, cursor in wrong:
        with pytest.raises(CtxhubError, match="cursor is not one that this list gave"):
            page(ada, action, ids[-1], cursor=cursor)
    for ref in ("template:deprecation", "decision:none"):
        with pytest.raises(CtxhubError):
            page(ada, "chain", ref, cursor=chain)


@pytest.mark.parametrize("limit", [0, -1, 1_001])
def test_a_limit_is_from_1_to_1000(ada: Caller, limit: int) -> None:
    row_id = save(ada)
    for action in WALKS:
        with pytest.raises(CtxhubError, match="limit is"):
            page(ada, action, row_id, limit=limit)


def test_agents_and_programs_turn_the_same_pages(ada_mcp: McpClient, ben_rest: RestClient) -> None:
    made: list[int] = []
    for n in range(5):
        cause = {"caused_by": made[-1]} if made else {}
        made.append(ada_mcp.call("snapshot", "save", content=f"s{n}", dependencies=[], **cause)["id"])
    first = ada_mcp.call("snapshot", "chain", id=made[-1], limit=2)
    assert [row[0] for row in first["rows"]] == made[:2]
    second = ben_rest.get(f"snapshots/{made[-1]}/chain/", limit=2, cursor=first["next"])
    assert [row["id"] for row in second.body["items"]] == made[2:4]
    assert 'rel="next"' in second.headers["link"]
    last = ben_rest.get("links/chain/", ref=f"snapshot:{made[-1]}", cursor=second.body["next"]).body
    assert ([row["id"] for row in last["items"]], last["next"]) == (made[4:], None)
    assert ben_rest.get("links/impact/", ref=f"snapshot:{made[0]}", limit=3).body["count"] == 3
    for query in ({"cursor": "x"}, {"limit": 0}, {"limit": "x"}):
        assert ben_rest.get("links/chain/", ref=f"snapshot:{made[0]}", **query).status == 400
        assert ben_rest.get(f"snapshots/{made[0]}/impact/", **query).status == 400
    assert ben_rest.get("links/why/", ref=f"snapshot:{made[0]}", limit=3).status == 400
