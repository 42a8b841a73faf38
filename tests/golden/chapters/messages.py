"""Messages: sent, read, acknowledged, claimed."""

from typing import Any

from tests.golden.hour import Hour

INBOXES: list[dict[str, Any]] = [
    {},
    {"unread": False},
    {"priority": "high"},
    {"type": "request", "state": "open"},
    {"since": "1m"},
    {"limit": 1, "format": "objects"},
]
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("send", {"text": ""}),
    ("send", {"text": "x", "type": "gossip"}),
    ("send", {"text": "x", "priority": "huge"}),
    ("send", {"text": "x", "reply_to": 999}),
    ("send", {"text": "x", "ack_within": "soon"}),
    ("read", {}),
    ("read", {"ids": [999]}),
    ("ack", {"ids": [999]}),
    ("claim", {"id": 999}),
    ("done", {"id": 999}),
    ("thread", {"id": 999}),
    ("status", {"id": 999}),
]


def send_and_read(hour: Hour) -> list[int]:
    """Returns the ids of a message, a reply and a request."""
    hour.chapter("Messages")
    first = _send(hour, "ada", text="The tests fail on main.", to=["ben"], priority="high")
    reply = _send(hour, "ben", text="I look at them.", reply_to=first, payload={"since": [1, 2]})
    _send(hour, "ada", text="Deploy at noon.", ack=True, ack_within="1m", type="warning")
    hour.mark("some messages")
    _send(hour, "ada", text="To somebody new.", to=["zoe", "Ben"])
    request = _send(hour, "ada", text="Review, please.", type="request", to=["ben", "eve"])
    _send(hour, "ada", text="Whoever can.", type="request", priority="critical")
    items = [{"text": "One.", "to": ["ben"]}, {"text": "Two.", "ack": True}]
    hour.tool("ada", "message", "send_batch", items=items)
    hour.tool("ada", "message", "send_batch", items=[*items, {"text": ""}], atomic=False)
    hour.tool("ada", "message", "send_batch", items=[*items, {"text": ""}])
    for query in INBOXES:
        hour.tool("ben", "message", "inbox", **query)
    hour.tool("eve", "message", "inbox")
    page = hour.tool("ben", "message", "inbox", limit=2)
    hour.tool("ben", "message", "inbox", limit=2, cursor=page["next"])
    hour.tool("ben", "message", "read", ids=[first])
    hour.tool("ben", "message", "read", ids=[first])
    hour.tool("ben", "message", "ack", ids=[first])
    hour.tool("ben", "message", "ack", ids=[first + 2])
    hour.tool("ada", "message", "thread", id=reply)
    hour.tool("ada", "message", "status", id=first + 2)
    _claim(hour, request)
    for action, arguments in REFUSED:
        hour.tool("ben", "message", action, **arguments)
    _use_rest(hour, first)
    hour.tool("ben", "message", "read", all=True)
    return [first, reply, request]


def _send(hour: Hour, who: str, **arguments: Any) -> int:
    return int(hour.tool(who, "message", "send", **arguments)["id"])


def _claim(hour: Hour, request: int) -> None:
    hour.tool("ben", "message", "claim", next=True, minutes=1)
    hour.tool("ben", "message", "claim", id=request)
    hour.tool("ada", "message", "claim", id=request)
    hour.tool("ben", "message", "claim", id=request, minutes=60)
    hour.wait(minutes=2)
    hour.tool("ben", "message", "inbox", state="open")
    hour.tool("ben", "message", "done", id=request, result_refs=["decision:api/auth/method"])
    hour.tool("ben", "message", "done", id=request)
    hour.tool("ben", "message", "claim", id=request)


def _use_rest(hour: Hour, first: int) -> None:
    hour.chapter("Messages over REST")
    hour.rest("ben", "POST", "messages/", {"text": "Hi.", "to": "ada", "reply_to": f"message:{first}"})
    hour.rest("ben", "POST", "messages/", {"text": "", "to": [1], "ack": "yes"})
    request = hour.rest("ben", "POST", "messages/", {"text": "Ask.", "type": "request", "to": ["ada"]})["id"]
    hour.rest("ben", "POST", "messages/batch/", {"items": [{"text": "One."}, {"txt": "Two."}]})
    hour.rest("ada", "GET", "messages/?limit=2")
    hour.rest("ada", "GET", f"messages/{request}/")
    hour.rest("ada", "GET", f"messages/{request}/status/")
    hour.rest("ada", "GET", f"threads/{first}/?limit=1")
    hour.rest("ada", "POST", f"messages/{request}/claim/", {"minutes": 5})
    hour.rest("ada", "POST", f"messages/{request}/done/", {"result_refs": ["file:x"]})
    hour.rest("ada", "POST", f"messages/{request}/done/", {})
    hour.rest("ada", "POST", "messages/claim/", {"next": True})
    hour.rest("ada", "POST", f"messages/{request}/read/", {})
    hour.rest("ada", "POST", f"messages/{request}/ack/", {})
    hour.rest("ada", "POST", "messages/read/", {"all": True})
