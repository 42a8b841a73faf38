"""Demo scenario: three agents work side by side with a constraint, leases and messages."""

import asyncio
from collections.abc import Callable

from ctxhub.management.scenarios.transcript import Agent, column, expect

RULE = "No endpoint answers without a check of the token."
NEWS = "I am moving the login to src/api/auth. Please leave src/api alone until I say so."


async def work_side_by_side(ada: Agent, ben: Agent, eve: Agent, write: Callable[[str], None]) -> None:
    """Run the scenario. Raises Unexpected at the first wrong answer."""
    write("\nEve, who joins now, writes down what must hold for everyone.")
    rule = {"category": "security", "text": RULE, "priority": "critical", "layer": "presentation"}
    made = await eve.call("constraint", "add", **rule)
    expect("the constraint", made["result"], "created")

    write("\nBen has the same thought: it is there already.")
    again = await ben.call("constraint", "add", category="security", text=RULE)
    expect("the same constraint", again, {"id": made["id"], "result": "exists", **_hint(again)})

    write("\nAda takes the files she is about to change ...")
    lease = await ada.call("file", "lease", paths=["src/api/**"], minutes=30, reason="Moving the login.")

    write("\n... and tells everyone, who are to say that they have read it. Ben is waiting for news.")
    waiting = asyncio.create_task(ben.call("message", "inbox", priority="high", wait_seconds=20))
    await asyncio.sleep(0.2)
    sent = await ada.call("message", "send", text=NEWS, priority="high", ack=True)
    inbox = await waiting
    expect("what Ben reads", column(inbox, "text"), [NEWS])
    await ben.call("message", "ack", ids=[sent["id"]])

    write("\nNobody's reading hides it from anyone: Eve has mail, as every answer tells her.")
    listed = await eve.call("constraint", "list")
    expect("her mail", listed["mail"], 1)

    write("\nShe has not looked, and wants one of those files: she is told who holds it, and until when.")
    conflict = await eve.refused("file", "lease", paths=["src/api/auth.py"])
    expect("the refusal", conflict["error"], "conflict")
    expect("the holder", conflict["current"]["by"], "ada")
    await eve.call("message", "ack", ids=[sent["id"]])

    write("\nAda sees who knows, does her work, and lets go.")
    status = await ada.call("message", "status", id=sent["id"])
    expect("who has acked", len(column(status, "acked_at")), 2)
    change = {"path": "src/api/auth.py", "change": "modified", "layer": "presentation"}
    await ada.call("file", "record", **change, description="Login moved here.")
    await ada.call("file", "release", lease_id=lease["lease_id"])
    await eve.call("file", "lease", paths=["src/api/auth.py"], session="eve-window-1")

    write("\nEve has two windows. In the other one she is told that she holds it in this one.")
    conflict = await eve.refused("file", "lease", paths=["src/api/auth.py"], session="eve-window-2")
    expect("the window that holds it", conflict["current"]["session"], "eve-window-1")

    write("\nBen was away. He asks in his own words, and finds what was done, of whatever kind it is.")
    found = await ben.call("search", query="where do logins happen now, and who checks tokens?", limit=3)
    for kind in ("change", "constraint"):
        expect(f"a {kind} found", any(ref.startswith(f"{kind}:") for ref in column(found, "ref")), True)

    write("\nWhat is in force, and what has moved, layer by layer:")
    summary = await ben.call("hub", "layer_summary")
    rows = {row[0]: row[1:] for row in summary["rows"]}
    expect("the presentation layer", rows["presentation"], [0, 1, 1])
    expect("the business layer", rows["business"], [1, 0, 0])


def _hint(answer: dict[str, object]) -> dict[str, object]:
    return {"hint": answer["hint"]} if "hint" in answer else {}
