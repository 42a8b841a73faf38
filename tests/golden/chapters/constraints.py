"""Constraints: added, listed, deactivated and activated."""

from typing import Any

from tests.golden.hour import Hour

WHOLE: dict[str, Any] = {
    "category": "Performance",
    "text": "Answers take less than 50 ms.",
    "priority": "high",
    "layer": "business",
    "tags": ["api", "latency"],
    "scopes": ["api/auth"],
    "paths": ["src/api/**"],
    "reason": "Agents wait for every call.",
}
LISTS: list[dict[str, Any]] = [
    {},
    {"category": "performance"},
    {"category": "nosuch"},
    {"layer": "business"},
    {"priority": "high"},
    {"tags": ["api", "latency"], "match": "all"},
    {"scope": "api/*"},
    {"by": "ben"},
    {"status": "inactive"},
    {"status": "any", "full": True},
    {"status": "any", "format": "objects", "limit": 1},
]
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("add", {"category": "x"}),
    ("add", {"category": "x", "text": " "}),
    ("add", {"category": "x", "text": "y", "priority": "huge"}),
    ("add", {"category": "x", "text": "y", "layer": "nosuch"}),
    ("add", {"category": "x", "text": "y", "paths": ["../y"]}),
    ("add", {"category": "", "text": "y"}),
    ("deactivate", {"id": 999}),
    ("activate", {"id": "constraint:one"}),
    ("list", {"status": "open"}),
]


def add_and_list(hour: Hour) -> int:
    """Returns the id of a constraint that is not deleted."""
    hour.chapter("Constraints")
    first = int(hour.tool("ada", "constraint", "add", **WHOLE)["id"])
    hour.tool("ben", "constraint", "add", **WHOLE)
    hour.tool("ben", "constraint", "add", **{**WHOLE, "category": "PERFORMANCE", "priority": "low"})
    for n, priority in enumerate(("low", "medium", "critical")):
        hour.tool("ben", "constraint", "add", category="own", text=f"Rule {n}.", priority=priority)
    plain = int(hour.tool("ben", "constraint", "add", category="security", text="Ask for a token.")["id"])
    hour.tool("ben", "constraint", "deactivate", id=plain, reason="Nobody asks.")
    hour.tool("ben", "constraint", "deactivate", id=plain, reason="Nobody asks.")
    for query in LISTS:
        hour.tool("ada", "constraint", "list", **query)
    page = hour.tool("ada", "constraint", "list", limit=2)
    hour.tool("ada", "constraint", "list", limit=2, cursor=page["next"])
    hour.tool("ada", "constraint", "activate", id=f"constraint:{plain}")
    hour.tool("ada", "constraint", "deactivate", id=plain)
    hour.tool("ada", "constraint", "add", category="security", text="Ask for a token.")
    for action, arguments in REFUSED:
        hour.tool("ben", "constraint", action, **arguments)
    use_rest(hour, first)
    return first


def use_rest(hour: Hour, first: int) -> None:
    hour.rest("ada", "POST", "constraints/", {**WHOLE, "text": "Said over REST.", "tags": "a, b"})
    hour.rest("ada", "POST", "constraints/", {**WHOLE, "text": "Said over REST."})
    hour.rest("ada", "POST", "constraints/", {"category": "x", "text": "", "priority": 9})
    hour.rest("ben", "GET", f"constraints/{first}/")
    hour.rest("ben", "GET", "constraints/999/")
    hour.rest("ben", "GET", "constraints/?tags=api&limit=1")
    hour.rest("ben", "PATCH", f"constraints/{first}/", {"status": "inactive", "reason": "Too strict."})
    hour.rest("ben", "PATCH", f"constraints/{first}/", {"status": "inactive"})
    hour.rest("ben", "POST", f"constraints/{first}/activate/", {})
    hour.rest("ben", "POST", f"constraints/{first}/deactivate/", {"reason": None})
    hour.rest("ben", "POST", f"constraints/{first}/activate/", {"reason": "x"})
    hour.rest("ben", "POST", f"constraints/{first}/activate/", {})
