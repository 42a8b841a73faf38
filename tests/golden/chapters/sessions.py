"""Sessions: saved and restored; their files, dependencies of files, and what fits into a budget."""

from typing import Any

from tests.golden.hour import Hour

PYTHON = '''"""Tokens."""

# Signed with the key of the day.
def sign(user: str) -> str:
    """Return a token for a user."""
    return f"{user}.x"
'''
NOTES = "# Basket\n\nIt asks once for each row.\n\n## Next\n\nA join.\n"
SAVED: dict[str, Any] = {
    "workspace_id": "shop",
    "conversation": "user: The basket is slow.\nassistant: It asks for each row.",
    "summary": "A join is half written.",
    "items": [
        {"category": "task", "content": "Finish the join.", "importance": 9},
        {"content": "The key was AKIAQ7LM2XWY4NPR5TVB."},
    ],
    "files": [
        {"path": "shop/basket.py", "hash": "3f2a9c", "modified_at": "2026-03-02T09:00:00Z"},
        {"path": "shop/tokens.py", "content": PYTHON},
    ],
    "active_project": "shop",
    "enabled_mcps": ["ctxhub", "browser"],
    "settings": {"model": "small"},
    "branch": "faster-basket",
    "worktree": "wt/basket",
}
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("save", {"items": [{"category": "task"}]}),
    ("save", {"items": [{"content": "x", "importance": 11}]}),
    ("save", {"files": [{"path": "a.py"}]}),
    ("save", {"files": [{"file": "a.py", "hash": "1"}]}),
    ("save", {"parent": 999}),
    ("save", {"token_count": -1}),
    ("restore", {"workspace_id": "nosuch"}),
    ("restore", {"session": 999}),
    ("restore", {"budget_tokens": 199}),
    ("get", {"session": "nosuch"}),
    ("get", {}),
    ("track", {"path": "a.py"}),
    ("track", {"path": "/a.py", "access": "viewed"}),
    ("track", {"path": "a.py", "access": "smelled"}),
    ("track", {"path": "a.py", "access": "viewed", "importance": 101}),
    ("resources", {"sort": "oldest"}),
    ("depend", {"source": "a.py", "target": "a.py", "type": "imports"}),
    ("dependencies", {"path": "nosuch.py"}),
    ("prioritize", {"budget_tokens": 20_000, "content": True}),
    ("delete", {"session": 999}),
]


def save_and_restore(hour: Hour) -> list[int]:
    """Returns the ids of a session and of the one that continues it."""
    hour.chapter("Sessions")
    first = int(hour.tool("ada", "session", "save", **SAVED)["session"])
    hour.tool("ada", "session", "save", session=first, conversation=SAVED["conversation"], items=[])
    hour.tool("ada", "session", "save", session=first, conversation="user: Go on.", settings={})
    hour.tool("ben", "session", "save", session=first, summary="Mine.")
    hour.tool("ben", "session", "save", session="ben's window", summary="Named.", token_count=0)
    files = [{"path": "shop/basket.py", "hash": "77b0e1"}, {"path": "shop/tokens.py", "hash": None}]
    restored = hour.tool("ada", "session", "restore", workspace_id="shop", files=files)
    child = int(restored["session"])
    hour.tool("ben", "session", "restore", session=first, budget_tokens=200)
    hour.tool("ada", "session", "save", summary="The join is written.")
    hour.tool("ada", "snapshot", "save", content="Saved within the session.", dependencies=[])
    for query in ({}, {"workspace_id": "shop"}, {"by": "Benjamin", "implicit": True}, {"parent": first}):
        hour.tool("ben", "session", "list", **query)
    page = hour.tool("ben", "session", "list", limit=1)
    hour.tool("ben", "session", "list", limit=1, cursor=page["next"])
    hour.tool("ben", "session", "get", session=first)
    hour.tool("ben", "session", "get", session=f"session:{child}", full=True)
    hour.tool("ben", "session", "get", session=first, conversation=1, lines="2")
    hour.tool("ben", "session", "lineage", session=child)
    hour.tool("ben", "get", refs=[f"session:{first}", "session:999"], detail="digest")
    hour.tool("ben", "search", query="half written join", kinds=["session"])
    for action, arguments in REFUSED:
        hour.tool("ben", "session", action, **arguments)
    return [first, child]


def track_and_prioritize(hour: Hour, ids: list[int]) -> None:
    hour.chapter("Files of sessions")
    hour.tool("ada", "session", "track", path="shop/tokens.py", access="edited", content=PYTHON)
    hour.tool("ada", "session", "track", path="docs/basket.md", access="view", content=NOTES, importance=80)
    hour.tool("ada", "session", "track", path="data/rows.csv", access="referenced", token_count=4_000)
    hour.tool("ben", "session", "track", path="shop/tokens.py", access="executed", session="ben's window")
    hour.tool("ben", "session", "track", path="shop/tokens.py", access="viewed", session=ids[0])
    hour.tool("ada", "session", "depend", source="shop/basket.py", target="shop/tokens.py", type="imports")
    said = {"source": "docs/basket.md", "target": "shop/basket.py", "type": "documents", "strength": 3}
    for _ in range(2):
        hour.tool("ben", "session", "depend", **said)
    hour.tool("ben", "session", "dependencies", path="shop/basket.py")
    hour.tool("ben", "session", "dependencies", path="docs/basket.md", direction="outgoing", depth=2)
    hour.tool("ben", "session", "accesses")
    hour.tool("ben", "session", "accesses", path="shop/tokens.py", access="edited", since="1h")
    for sort in ("relevance", "accessed", "recent"):
        hour.tool("ada", "session", "resources", sort=sort)
    hour.tool("ben", "session", "resources", session=ids[0], limit=1)
    for budget in (0, 30, 200, 100_000):
        hour.tool("ada", "session", "prioritize", budget_tokens=budget)
    hour.tool("ada", "session", "prioritize", budget_tokens=120, query="basket", content=True)
    hour.tool("ada", "session", "resources")
    hour.tool("ben", "session", "prioritize", budget_tokens=100, session=ids[0])
    hour.tool("ben", "get", refs=["resource:shop/tokens.py", "resource:docs/basket.md"])
    hour.tool("ben", "search", query="sign a token for a user", kinds=["resource"])
    hour.tool("ben", "hub", "agents")
    hour.tool("ben", "hub", "stats")


def use_rest(hour: Hour) -> None:
    hour.chapter("Sessions over REST")
    made = hour.rest("eve", "POST", "sessions/", {"workspace_id": "rest", "summary": "Begun."})["session"]
    hour.rest("eve", "PATCH", f"sessions/{made}/", {"conversation": "user: Go on.", "branch": "main"})
    hour.rest("eve", "PATCH", f"sessions/{made}/", {"branch": None})
    hour.rest("eve", "PATCH", f"sessions/{made}/", {"branch": 5, "zzz": 1})
    hour.rest("eve", "POST", "sessions/", {"items": [{"content": ""}]})
    track = {"path": "rest/a.py", "access": "edited", "content": PYTHON, "session": made}
    hour.rest("eve", "POST", "accesses/", track)
    hour.rest("eve", "POST", "accesses/", {"path": "", "access": 9})
    depend = {"source": "rest/a.py", "target": "shop/tokens.py", "type": "tests"}
    for _ in range(2):
        hour.rest("eve", "POST", "dependencies/", depend)
    for path in ("sessions/?workspace_id=rest", "accesses/?path=rest/a.py", "dependencies/?path=rest/a.py"):
        hour.rest("eve", "GET", path)
    for path in ("", "?full=true", "lineage/", "resources/?sort=recent", "accesses/?access=edited"):
        hour.rest("eve", "GET", f"sessions/{made}/{path}")
    hour.rest("eve", "POST", f"sessions/{made}/prioritize/", {"budget_tokens": 60, "content": True})
    hour.rest("eve", "POST", f"sessions/{made}/prioritize/", {"budget_tokens": -1})
    child = hour.rest("eve", "POST", "sessions/restore/", {"workspace_id": "rest"})["session"]
    hour.rest("eve", "POST", f"sessions/{made}/restore/", {"budget_tokens": 300})
    hour.rest("eve", "GET", f"sessions/{child}/lineage/")
    hour.rest("eve", "GET", "sessions/999/")
    hour.rest("ben", "DELETE", f"sessions/{made}/")
    hour.rest("eve", "DELETE", f"sessions/{made}/")
    hour.rest("eve", "DELETE", f"sessions/{made}/")
    hour.rest("eve", "GET", f"sessions/{child}/")
    hour.rest("eve", "GET", "resources/?limit=2")
    hour.rest("eve", "POST", "call/session/list/", {"limit": 1})


def refuse_strangers_and_readers(hour: Hour, ids: list[int]) -> None:
    hour.chapter("Sessions of others")
    for action in ("get", "restore", "lineage", "resources"):
        hour.tool("cy", "session", action, session=ids[0])
    hour.tool("cy", "session", "save", session=ids[0], summary="x")
    hour.tool("cy", "session", "prioritize", session=ids[0], budget_tokens=10)
    hour.tool("cy", "delete", refs=[f"session:{ids[0]}"])
    hour.tool("cy", "session", "accesses")
    hour.rest("cy", "GET", f"sessions/{ids[0]}/")
    hour.tool("viewer", "session", "save", summary="x")
    hour.tool("viewer", "session", "restore", session=ids[0])
    hour.tool("viewer", "session", "get", session=ids[0])
    hour.tool("ben", "delete", refs=[f"session:{ids[1]}"])
    hour.tool("ada", "delete", refs=[f"session:{ids[1]}"])
    hour.tool("ada", "session", "list", limit=2)
