"""Decisions and their templates: set, changed field by field, listed, deprecated, deleted."""

from typing import Any

from tests.golden.hour import Hour

KEY = "api/auth/method"
WHOLE: dict[str, Any] = {
    "value": "JWT",
    "layer": "business",
    "tags": ["api", "Security"],
    "scopes": ["api/auth"],
    "paths": ["src/auth/**"],
    "rationale": "Stateless:\nany worker checks it.",
    "alternatives": [{"option": "Sessions", "why_not": "one more store"}, "Mutual TLS"],
    # PostgreSQL returns the keys of objects in this order: the short ones first.
    "tradeoffs": {"cons": ["short lived"], "pros": ["no store"]},
    "metadata": {"team": {"name": "auth", "size": 3}, "ticket": "OPS-7"},
}
# Each field alone: first with another value, then empty.
FIELDS: list[dict[str, Any]] = [
    {"layer": "data"},
    {"tags": ["api", "testing"]},
    {"scopes": ["api/auth", "api/tokens"]},
    {"paths": ["src/auth/**", "src/api/*.py"]},
    {"rationale": "It is stateless."},
    {"alternatives": ["Sessions"]},
    {"tradeoffs": {"pros": ["no store", "fast"], "cons": None}},
    {"metadata": {"ticket": None, "team": {"size": 4}, "owner": "ada"}},
    {"status": "draft"},
    {"status": "active"},
    {"version": "2.0.0"},
    {"rationale": ""},
    {"tags": []},
    {"scopes": []},
    {"paths": []},
    {"alternatives": []},
    {"tradeoffs": {}},
]
LISTS: list[dict[str, Any]] = [
    {},
    {"full": True, "limit": 3},
    {"status": "any", "sort": "key", "order": "asc"},
    {"status": "draft"},
    {"layer": "data"},
    {"tags": ["api", "testing"], "match": "all"},
    {"tags": ["API"], "exclude_tags": ["testing"]},
    {"scope": "api/*"},
    {"by": "ben"},
    {"by": "nobody"},
    {"text": "stateless"},
    {"since": "2m"},
    {"until": "2m"},
    {"sort": "version", "order": "asc"},
    {"layer": "nosuch"},
    {"format": "objects", "limit": 2},
    {"max_tokens": 120},
]
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("set", {"key": "k"}),
    ("set", {"key": "", "value": "x"}),
    ("set", {"key": "k" * 201, "value": "x"}),
    ("set", {"key": "k", "value": {"a": 1}}),
    ("set", {"key": "k", "value": "x", "status": "open"}),
    ("set", {"key": "k", "value": "x", "layer": "nosuch"}),
    ("set", {"key": "k", "value": "x", "laier": "data"}),
    ("set", {"key": "k", "value": "x", "paths": ["/etc/passwd"]}),
    ("set", {"key": "k", "value": "x", "tradeoffs": {"pro": ["x"]}}),
    ("set", {"key": "k", "value": "AKIAQ7LM2XWY4NPR5TVB"}),
    ("set", {"key": KEY, "value": "x", "expected_version": "9.9.9"}),
    ("set", {"key": "new", "value": "x", "expected_version": "1.0.0"}),
    ("deprecate", {"key": "nosuch", "reason": "x"}),
    ("deprecate", {"key": KEY, "superseded_by": "nosuch"}),
    ("deprecate", {"key": KEY, "superseded_by": KEY}),
    ("delete", {"key": "nosuch"}),
    ("list", {"limit": 0}),
    ("list", {"cursor": "nosuch"}),
    ("list", {"sort": "value"}),
    ("versions", {"key": KEY, "lines": "1-2"}),
]


def set_and_change(hour: Hour) -> None:
    hour.chapter("Decisions, set and changed")
    hour.tool("ada", "decision", "set", key=KEY, **WHOLE)
    hour.tool("ada", "decision", "set", key=KEY, **WHOLE)
    for changed in FIELDS:
        hour.tool("ben", "decision", "set", key=KEY, value="JWT", **changed)
    hour.tool("ben", "decision", "set", key=KEY, value="OAuth", expected_version="2.0.0")
    for value in ("", 5, 5.5, "5", 10**20):
        hour.tool("ada", "decision", "set", key="perf/p95_ms", value=value, tags=["performance"])
    hour.tool("ada", "decision", "quick_set", key="api/rate-limit", value=100)
    hour.tool("ada", "decision", "quick_set", key="api/rate-limit", value=120)
    hour.tool("ada", "decision", "set", key="auth/api/method", value="JWT, too")
    hour.tool("ben", "decision", "get", key=KEY, include=["rationale", "history", "links"])
    hour.tool("ben", "decision", "get", key="api/auth/methods")
    for action, arguments in REFUSED:
        hour.tool("ben", "decision", action, **arguments)


def set_batches(hour: Hour) -> None:
    hour.chapter("Decisions in batches")
    items = [{"key": f"shop/{n}", "value": n, "tags": ["shop"], "scopes": ["shop"]} for n in range(6)]
    hour.tool("ada", "decision", "set_batch", items=items)
    again = [{"key": "shop/1", "value": 1}, {"key": "shop/2", "value": "two"}, {"key": "shop/2", "value": 22}]
    hour.tool("ben", "decision", "set_batch", items=again)
    wrong = [{"key": "shop/3", "value": 33}, {"key": "shop/4", "value": "x", "layer": "nosuch"}]
    hour.tool("ben", "decision", "set_batch", items=wrong)
    hour.tool("ben", "decision", "set_batch", items=wrong, atomic=False)


def list_decisions(hour: Hour) -> None:
    hour.chapter("Decisions, listed")
    for query in LISTS:
        hour.tool("ben", "decision", "list", **query)
    page = hour.tool("ben", "decision", "list", status="any", limit=4)
    hour.tool("ben", "decision", "list", status="any", limit=4, cursor=page["next"])
    hour.tool("ben", "decision", "versions", key=KEY, limit=3)
    hour.tool("ben", "decision", "versions", key=KEY, version="1.0.0", tail=1)
    hour.tool("ben", "decision", "suggest", key="api/auth/token", tags=["api"], text="stateless")
    hour.tool("ben", "decision", "analytics", pattern="*/*", bucket="hour")


def deprecate_and_delete(hour: Hour) -> None:
    hour.chapter("Decisions, ended and deleted")
    hour.tool("ada", "decision", "deprecate", key="shop/0", reason="Too small.", superseded_by="shop/1")
    hour.tool("ada", "decision", "deprecate", key="shop/0", reason="Too small.", superseded_by="shop/1")
    hour.tool("ben", "decision", "deprecate", key="shop/5", superseded_by="shop/1")
    hour.tool("ben", "decision", "get", key="shop/1", include=["links"])
    hour.tool("ben", "decision", "set", key="shop/5", value=5, status="active")
    hour.tool("ben", "delete", refs=["decision:shop/1"])
    hour.tool("ada", "delete", refs=["decision:shop/1"])
    hour.tool("ada", "decision", "get", key="shop/0", include=["history", "links"])


def use_rest(hour: Hour) -> None:
    hour.chapter("Decisions over REST")
    whole = {**WHOLE, "key": "db/engine", "value": "PostgreSQL"}
    hour.rest("ada", "POST", "decisions/", whole)
    hour.rest("ada", "POST", "decisions/", whole)
    hour.rest("ada", "PATCH", "decisions/db/engine/", {"rationale": "It scales.", "layer": None})
    hour.rest("ada", "PATCH", "decisions/db/engine/", {"value": "SQLite"}, {"If-Match": '"1.0.0"'})
    hour.rest("ada", "PATCH", "decisions/db/engine/", {"value": "MySQL"}, {"If-Match": '"1.0.0"'})
    hour.rest("ben", "PUT", "decisions/db/engine/", {"value": "PostgreSQL", "tags": ["database"]})
    hour.rest("ben", "PUT", "decisions/db/pool/", {"value": 20})
    for _ in range(2):
        hour.rest("ben", "POST", "decisions/", {"key": "once", "value": 1}, {"Idempotency-Key": "a"})
    hour.rest("ben", "POST", "decisions/", {"key": "other", "value": 1}, {"Idempotency-Key": "a"})
    hour.rest("ben", "POST", "decisions/", {"key": "k", "value": "x", "tags": "a,b", "status": 1})
    hour.rest("ben", "POST", "decisions/", {"key": "k"})
    hour.rest("ben", "POST", "decisions/", {"key": "k", "value": "x", "tags": [1], "laier": "data"})
    hour.rest("ben", "PATCH", "decisions/nosuch/", {"value": "x"})
    hour.rest("ben", "GET", "decisions/db/engine/?include=history,links")
    hour.rest("ben", "GET", "decisions/nosuch/")
    hour.rest("ben", "GET", "decisions/?key=db/engine")
    hour.rest("ben", "GET", "decisions/?tags=api&limit=2&full=true")
    hour.rest("ben", "GET", "decisions/?sort=value&limt=2")
    hour.rest("ben", "GET", "decisions/db/engine/versions/?limit=2")
    hour.rest("ben", "GET", "decisions/suggest/?key=db/engine")
    hour.rest("ben", "GET", "decisions/analytics/?pattern=shop/*")
    hour.rest("ben", "POST", "decisions/batch/", {"items": [{"key": "b/1", "value": 1}, {"key": "b/2"}]})
    hour.rest("ben", "POST", "decisions/batch/", {"items": [{"key": "b/1", "value": 1}]})
    hour.rest("ben", "DELETE", "decisions/b/1/")
    hour.rest("ada", "DELETE", "decisions/b/1/", headers={"If-Match": '"7"'})
    hour.rest("ada", "DELETE", "decisions/b/1/")


def use_templates(hour: Hour) -> None:
    hour.chapter("Templates")
    incident: dict[str, Any] = {
        "defaults": {"tags": ["incident"], "layer": "infrastructure"},
        "require": ["rationale", "severity"],
        "patterns": {"severity": "^(low|high)$"},
    }
    arguments = {"name": "incident", "key": "incident/1", "value": "A full disk."}
    hour.tool("ada", "decision", "template_set", name="Incident", **incident)
    hour.tool("ada", "decision", "template_set", name="incident", **incident)
    hour.tool("ben", "decision", "template_set", name="incident", require=["rationale"])
    hour.tool("ben", "decision", "template_set", name="incident", patterns={"severity": "("})
    hour.tool("ben", "decision", "from_template", **arguments)
    hour.tool(
        "ben", "decision", "from_template", **arguments, rationale="Logs.", metadata={"severity": "mid"}
    )
    hour.tool(
        "ben", "decision", "from_template", **arguments, rationale="Logs.", metadata={"severity": "low"}
    )
    hour.tool("ben", "decision", "from_template", **{**arguments, "name": "nosuch"})
    hour.tool("ada", "decision", "template_set", name="deprecation", require=["rationale"], defaults={})
    hour.tool("ben", "decision", "templates", limit=3)
    hour.rest("ben", "GET", "templates/incident/")
    hour.rest("ben", "PUT", "templates/outage/", {"require": ["rationale"], "defaults": {"tags": ["o"]}})
    hour.rest("ben", "PATCH", "templates/outage/", {"defaults": {"layer": "data"}})
    hour.rest("ben", "PATCH", "templates/nosuch/", {"defaults": {}})
    hour.rest("ben", "POST", "templates/outage/decisions/", {"key": "o/1", "value": "x", "rationale": "y"})
    hour.rest("ada", "DELETE", "templates/outage/")
    hour.rest("ada", "DELETE", "templates/outage/")
    hour.rest("ben", "GET", "templates/?limit=2")
