"""File changes and leases."""

from typing import Any

from tests.golden.hour import Hour

CHANGES: list[dict[str, Any]] = [
    {},
    {"path": "src/*"},
    {"path": "src/"},
    {"by": "ben"},
    {"layer": "data"},
    {"change": "deleted"},
    {"since": "1m"},
    {"limit": 1, "format": "objects"},
]
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("record", {"path": "/x", "change": "created"}),
    ("record", {"path": "x", "change": "renamed"}),
    ("record", {"path": "x", "change": "created", "layer": "nosuch"}),
    ("lease", {"paths": []}),
    ("lease", {"paths": ["x"], "minutes": 0}),
    ("renew", {"lease_id": 999}),
    ("release", {}),
    ("release", {"lease_id": 999}),
]


def record_and_lease(hour: Hour) -> dict[str, int]:
    """Returns the ids of a change and a lease that are not deleted."""
    hour.chapter("Files")
    change = _record(hour, "ada", path="src/app.py", change="created", layer="data", description="So.")
    _record(hour, "ben", path="src/app.py", change="modified")
    hour.mark("some changes")
    _record(hour, "ben", path="docs/a.md", change="deleted", layer="business")
    items = [{"path": "src/b.py", "change": "created"}, {"path": "src/app.py", "change": "modified"}]
    hour.tool("ada", "file", "record_batch", items=items)
    hour.tool("ada", "file", "record_batch", items=[*items, {"path": "", "change": "created"}])
    hour.tool("ada", "file", "record_batch", items=[*items, {"path": "", "change": "x"}], atomic=False)
    for query in CHANGES:
        hour.tool("ben", "file", "changes", **query)
    page = hour.tool("ben", "file", "changes", limit=2)
    hour.tool("ben", "file", "changes", limit=2, cursor=page["next"])
    lease = int(hour.tool("ada", "file", "lease", paths=["lib/**", "a.py"], reason="Moves.")["lease_id"])
    hour.tool("ben", "file", "lease", paths=["lib/x.py"])
    hour.tool("ben", "file", "lease", paths=["docs/*"], exclusive=False, minutes=1)
    hour.tool("eve", "file", "lease", paths=["docs/*"])
    hour.tool("ben", "file", "check_lock", path="lib/x.py")
    hour.tool("ben", "file", "check_lock", path="src/app.py", within_seconds=600)
    hour.tool("ben", "file", "leases")
    hour.tool("ben", "file", "leases", path="lib/**", by="ada", limit=1)
    hour.tool("ada", "file", "renew", lease_id=lease, minutes=60)
    hour.tool("ben", "file", "renew", lease_id=lease)
    hour.tool("ben", "file", "release", lease_id=lease)
    hour.tool("ben", "file", "release", all=True)
    shared = hour.tool("ben", "file", "lease", paths=["own/**"])["lease_id"]
    hour.tool("ada", "file", "release", lease_id=shared, force=True)
    for action, arguments in REFUSED:
        hour.tool("ben", "file", action, **arguments)
    _use_rest(hour, change)
    return {"change": change, "lease": lease}


def _record(hour: Hour, who: str, **arguments: Any) -> int:
    return int(hour.tool(who, "file", "record", **arguments)["id"])


def _use_rest(hour: Hour, change: int) -> None:
    hour.chapter("Files over REST")
    hour.rest("ben", "POST", "changes/", {"path": "rest.py", "change": "created", "layer": None})
    hour.rest("ben", "POST", "changes/", {"path": "", "change": 9})
    hour.rest("ben", "POST", "changes/batch/", {"items": [{"path": "a", "change": "created"}]})
    hour.rest("ben", "GET", "changes/?path=src/*&limit=1")
    hour.rest("ben", "GET", f"changes/{change}/")
    hour.rest("ben", "GET", "changes/lock/?path=src/app.py")
    hour.rest("ben", "GET", "resources/?limit=2")
    lease = hour.rest("ben", "POST", "leases/", {"paths": ["rest/**"], "minutes": 5})["lease_id"]
    hour.rest("ben", "POST", "leases/", {"paths": [], "minutes": 5000})
    hour.rest("ben", "PATCH", f"leases/{lease}/", {"minutes": 30})
    hour.rest("ben", "GET", f"leases/{lease}/")
    hour.rest("ben", "GET", "leases/?by=ben")
    hour.rest("ben", "DELETE", f"leases/{lease}/")
    hour.rest("ben", "DELETE", f"leases/{lease}/")
    hour.rest("ben", "POST", "leases/release/", {"all": True})
