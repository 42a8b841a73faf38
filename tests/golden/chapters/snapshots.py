"""Snapshots: saved and read, their causes and effects, tiers and predictions, imports of WakeIQX."""

from pathlib import Path
from typing import Any

from tests.golden.hour import Hour
from tests.importing.old_snapshots import OldSnapshots
from tests.sqlew.importing import imported

DECIDED = "Sessions move to PostgreSQL. Redis lost them twice this week.\n\nNobody may be signed out."
LISTS: list[dict[str, Any]] = [
    {},
    {"action_type": "decision"},
    {"tier": "active", "by": "ada"},
    {"tier": "expired"},
    {"tags": ["database"]},
    {"since": "30s"},
    {"text": "redis", "format": "objects"},
]
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("save", {}),
    ("save", {"content": " "}),
    ("save", {"content": "x", "action_type": "thought"}),
    ("save", {"content": "x", "caused_by": 999}),
    ("save", {"content": "x", "dependencies": [999]}),
    ("save", {"content": "x", "metadata": {"caused_by": "decision:a"}}),
    ("save", {"content": "x", "session": 999}),
    ("load", {"limit": 11}),
    ("load", {"view": "poet"}),
    ("search", {"query": ""}),
    ("list", {"tier": "lost"}),
    ("get", {"id": 999}),
    ("why", {"id": "decision:a"}),
    ("graph", {"limit": 0}),
    ("prefetch", {"min_score": 2}),
    ("predict", {"stale_hours": -1}),
    ("prune", {"dry_run": False}),
    ("delete", {"id": 1}),
]


def save_and_read(hour: Hour) -> list[int]:
    """Returns the ids of a cause, of its effect and of what rests on both."""
    hour.chapter("Snapshots")
    first = _save(hour, "ada", content=DECIDED, action_type="decision", rationale="So.", tags=["database"])
    second = _save(hour, "ben", content="The table is made.", action_type="file_edit", caused_by=first)
    third = _save(
        hour,
        "ada",
        content="Read 7 pages on pools. The key was AKIAQ7LM2XWY4NPR5TVB.",
        summary="Pools",
        metadata={"page": 7, "causedBy": second, "actionType": "research", "dependencies": [first]},
        source="notebook",
    )
    _save(hour, "ada", content="Ask about logging.", dependencies=[])
    for view in ("historian", "prophet", "archaeologist", "minimalist", "auditor"):
        hour.tool("ben", "snapshot", "load", limit=2, view=view)
    hour.tool("ben", "snapshot", "search", query="why did sessions move?", limit=2)
    hour.tool("ben", "snapshot", "search", query="pools", view="minimalist")
    for query in LISTS:
        hour.tool("ben", "snapshot", "list", **query)
    page = hour.tool("ben", "snapshot", "list", limit=2)
    hour.tool("ben", "snapshot", "list", limit=2, cursor=page["next"])
    hour.tool("ben", "snapshot", "get", id=third)
    hour.tool("ben", "snapshot", "get", id=first, lines="3")
    hour.tool("ben", "get", refs=[f"snapshot:{first}", "snapshot:999"], detail="digest")
    for action, arguments in REFUSED:
        hour.tool("ben", "snapshot", action, **arguments)
    return [first, second, third]


def walk_and_predict(hour: Hour, ids: list[int]) -> None:
    hour.chapter("Causes, tiers and predictions")
    for action in ("why", "chain", "impact"):
        for snapshot_id in ids:
            hour.tool("eve", "snapshot", action, id=snapshot_id)
    hour.tool("eve", "snapshot", "graph", limit=2)
    hour.tool("eve", "snapshot", "graph", mermaid=True)
    hour.tool("eve", "snapshot", "predict")
    hour.tool("eve", "snapshot", "predict", stale_hours=0)
    hour.tool("eve", "snapshot", "prefetch", min_score=0.3)
    hour.tool("eve", "snapshot", "get", id=ids[0])
    hour.wait(hours=2)
    for action in ("tiers", "retier", "stats"):
        hour.tool("eve", "snapshot", action)
    hour.tool("ada", "snapshot", "prune")
    hour.tool("ada", "delete", refs=[f"snapshot:{ids[1]}"])
    hour.tool("ada", "snapshot", "chain", id=ids[2])
    hour.tool("ben", "hub", "activity", verbs=["created", "deleted"], limit=3)


def use_rest(hour: Hour, ids: list[int]) -> None:
    hour.chapter("Snapshots over REST")
    first = ids[0]
    body = {"content": "Drained the old queue.", "action_type": "tool_use", "caused_by": first, "tags": []}
    made = hour.rest("ben", "POST", "snapshots/", body)["id"]
    hour.rest("ben", "POST", "snapshots/", {"content": "", "action_type": "thought", "zzz": 1})
    hour.rest("ben", "POST", "snapshots/", {"content": "x", "caused_by": 999})
    for path in ("", "?limit=1", "load/?view=auditor", "search/?query=redis", "graph/?limit=2", "tiers/"):
        hour.rest("ben", "GET", f"snapshots/{path}")
    for path in ("stats/", "prefetch/?min_score=0.1", f"{first}/", f"{first}/why/", f"{made}/chain/"):
        hour.rest("ben", "GET", f"snapshots/{path}")
    hour.rest("ben", "GET", f"snapshots/{first}/impact/")
    hour.rest("ben", "GET", "snapshots/999/")
    hour.rest("ben", "POST", "snapshots/retier/")
    hour.rest("ben", "POST", "snapshots/predict/", {"stale_hours": 1})
    hour.rest("ben", "POST", "snapshots/prune/", {"limit": 1})
    hour.rest("ben", "POST", "snapshots/prune/", {"dry_run": False})
    hour.rest("ada", "POST", "snapshots/prune/", {"dry_run": False})
    hour.rest("ben", "DELETE", f"snapshots/{made}/")
    hour.rest("ada", "DELETE", f"snapshots/{made}/")
    hour.rest("ada", "DELETE", f"snapshots/{made}/")
    hour.rest("ada", "POST", "call/snapshot/why/", {"id": first})


def refuse_strangers_and_readers(hour: Hour, ids: list[int]) -> None:
    hour.chapter("Snapshots of others")
    for action in ("get", "why", "chain", "impact"):
        hour.tool("cy", "snapshot", action, id=ids[0])
    hour.tool("cy", "snapshot", "save", content="x", caused_by=ids[0])
    hour.tool("cy", "delete", refs=[f"snapshot:{ids[0]}"])
    hour.tool("cy", "snapshot", "load")
    hour.rest("cy", "GET", f"snapshots/{ids[0]}/")
    hour.tool("viewer", "snapshot", "save", content="x")
    hour.tool("viewer", "snapshot", "predict")
    hour.tool("viewer", "snapshot", "prune")
    hour.tool("viewer", "snapshot", "why", id=ids[0])


def import_twice(hour: Hour, folder: Path) -> None:
    hour.chapter("Snapshots of WakeIQX")
    file = _old_snapshots(folder)
    for _ in range(2):
        hour.does("somebody", "runs import_wakeiqx", lambda: _report(file))
    hour.tool("ben", "snapshot", "list", limit=3)


def _save(hour: Hour, who: str, **arguments: Any) -> int:
    return int(hour.tool(who, "snapshot", "save", **arguments)["id"])


def _report(file: Path) -> str:
    return imported(file, command="import_wakeiqx").text.replace(str(file.parent), "FOLDER").strip()


def _old_snapshots(folder: Path) -> Path:
    old = OldSnapshots(folder / "wakeiqx.db")
    old.add(tags="security, old", action_type="decision", rationale="Safer on phones.", memory_tier="ACTIVE")
    old.add("s2", "The login is new.", caused_by="s1", dependencies=["s1", "nosuch"], access_count=3)
    old.add("s3", "Lost its cause.", caused_by="nosuch", metadata={"a": 1}, memory_tier="cold")
    old.add("s4", "")
    return old.close()
