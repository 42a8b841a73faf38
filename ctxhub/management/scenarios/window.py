"""Demo scenario: an agent loses its window in the middle of its work, and goes on in a new one."""

import hashlib
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from ctxhub.management.scenarios.transcript import Agent, Answer, column, expect

BASKET = "shop/basket.py"
CODE = '''"""The basket of a customer."""


def total(basket, database):
    """Return the price of all that is in the basket."""
    # One query for each row: slow.
    return sum(database.price(row.article) * row.count for row in basket.rows)
'''
FOUND = "The basket is slow: it asks the database once for each row, 400 times for the largest customer."
DECIDED = "One join reads all prices of a basket. It stands in total()."
TALK = """user: Why is the page with the basket slow? It takes two seconds.
ada: I count its queries. A basket of 400 rows asks the database 404 times.
user: Can we cache the prices?
ada: After each sale a cache would be stale. One join reads all prices of a basket at once.
user: Then do that. The test database opens with postgres://shop:hunter2-and-more@db.example/shop.
ada: I write the join in total(), and adapt its tests afterwards.
ada: The join is half done: discounts are still missing."""
BUDGET = 300

Open = Callable[[], AbstractAsyncContextManager[Agent]]
"""Opens a window of Ada's: a connection of its own, to a server process of its own."""


async def lose_a_window(open_window: Open, ben: Agent, write: Callable[[str], None]) -> None:
    """Run the scenario. Raises Unexpected at the first wrong answer."""
    async with open_window() as ada:
        saved, decided = await _work(ada, write)
    write("\nThe window is closed; its server process ends. What she knew is gone from it.")
    async with open_window() as ada:
        child = await _go_on(ada, saved, decided, write)
    write("\nBen finds the work, asks what it came from, and could go on himself.")
    listed = await ben.call("session", "list", workspace_id="shop", by="ada")
    expect("her sessions", column(listed, "session"), [child, saved["session"]])
    line = await ben.call("session", "lineage", session=child)
    expect("what it continues", column(line, "session"), [child, saved["session"]])


async def _work(ada: Agent, write: Callable[[str], None]) -> tuple[Answer, Answer]:
    write("\nAda looks into a slow basket. What she finds, and what she decides because of it, she keeps.")
    await ada.call("session", "track", path=BASKET, access="edited", content=CODE)
    found = await ada.call("snapshot", "save", content=FOUND, action_type="research")
    reason = {"rationale": "A cache would be stale after each sale.", "caused_by": found["id"]}
    decided = await ada.call("snapshot", "save", content=DECIDED, action_type="decision", **reason)
    expect("the cause", decided["caused_by"], found["id"])

    write("\nHer window is nearly full: she saves where she is. The password in the talk is not stored.")
    saved = await ada.call(
        "session",
        "save",
        workspace_id="shop",
        conversation=TALK,
        summary="The basket asks once for each row; a join is half done.",
        items=[{"category": "task", "content": "Add the discounts to the join in total().", "importance": 9}],
        files=[{"path": BASKET, "hash": _hash(CODE)}, {"path": "shop/old_basket.py", "hash": "3f2a9c"}],
        branch="faster-basket",
    )
    expect("her session", saved["result"], "created")
    expect("masked credentials", saved["masked"], 1)
    return saved, decided


async def _go_on(ada: Agent, saved: Answer, decided: Answer, write: Callable[[str], None]) -> int:
    write(f"\nIn a new window she asks where she was, for {BUDGET} tokens. A file has changed, one is gone.")
    now = [{"path": BASKET, "hash": _hash(CODE + "\n")}, {"path": "shop/old_basket.py", "hash": None}]
    back = await ada.call("session", "restore", workspace_id="shop", budget_tokens=BUDGET, files=now)
    expect("what she continues", back["parent"], saved["session"])
    expect("the task", column(back["items"], "content"), ["Add the discounts to the join in total()."])
    expect(
        "the end of the talk", column(back["conversations"], "text")[0][-28:], "discounts are still missing."
    )
    expect("its files", back["files"]["rows"], [[BASKET, True], ["shop/old_basket.py", "missing"]])
    expect("within the budget", back["tokens"] <= BUDGET, True)

    write("\nWhy a join, and no cache? She asks, and sees what led to it.")
    why = await ada.call("snapshot", "why", id=decided["id"])
    expect("the reason", why["rationale"], "A cache would be stale after each sale.")
    chain = await ada.call("snapshot", "chain", id=decided["id"])
    expect("what led to it", column(chain, "action_type"), ["research", "decision"])

    write("\nWhich files does she need again, in 50 tokens? Each comes as full as it fits.")
    wanted = {"budget_tokens": 50, "content": True}
    files = await ada.call("session", "prioritize", **wanted)
    expect("the first", files["included"][0]["path"], BASKET)
    expect("its budget", files["tokens_used"] <= wanted["budget_tokens"], True)

    write("\nShe finishes, keeps that with its cause, and saves: it is the session that she restored.")
    done = "Discounts are in the join: one query for a basket of 400 rows."
    kept = await ada.call("snapshot", "save", content=done, action_type="file_edit", caused_by=decided["id"])
    expect("what it rests on", kept["caused_by"], decided["id"])
    again = await ada.call("session", "save", summary="The basket reads its prices with one join.", items=[])
    expect("the same session", again, {"session": back["session"], "result": "updated"})
    session: int = again["session"]
    return session


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
