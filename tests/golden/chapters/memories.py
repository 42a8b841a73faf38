"""Contexts, memories and relationships."""

from typing import Any

from tests.golden.hour import Hour

CONTEXT: dict[str, Any] = {
    "description": "The shop's backend.",
    "stack": "Django",
    "tags": ["api", "shop"],
    "metadata": {"owner": "platform"},
}
CONTEXT_FIELDS: list[dict[str, Any]] = [
    {"name": "Store"},
    {"description": "The store's backend."},
    {"stack": "django"},
    {"tags": ["shop"]},
    {"metadata": {"owner": None, "team": 1}},
    {"name": "Store"},
    {"description": ""},
    {"tags": []},
]
MEMORY: dict[str, Any] = {
    "title": "Caching the product list",
    "content": "Keep it in Redis for five minutes. Without it the page takes two seconds.",
    "context": "store",
    "type": "reference",
    "stack": "Django",
    "difficulty": "hard",
    "tags": ["caching", "api"],
    "paths": ["shop/views/*.py"],
    "metadata": {"ticket": "OPS-7"},
}
MEMORY_FIELDS: list[dict[str, Any]] = [
    {"title": "Caching products"},
    {"content": "Keep it in Redis for ten minutes. It is slow without."},
    {"context": "general"},
    {"type": "idea"},
    {"stack": "react19"},
    {"difficulty": "easy"},
    {"tags": ["caching"]},
    {"paths": ["shop/**"]},
    {"metadata": {"ticket": None, "n": [1, 2]}},
    {"title": "Caching products"},
    {"stack": "", "difficulty": "", "tags": [], "paths": []},
    {"context": "Store"},
]
LISTS: list[dict[str, Any]] = [
    {},
    {"context": "store"},
    {"type": "idea"},
    {"stack": "DJANGO"},
    {"difficulty": "hard"},
    {"tags": ["api", "caching"]},
    {"context": "nosuch"},
    {"limit": 1, "format": "objects"},
]
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("context_create", {"name": "store"}),
    ("context_create", {"name": "123"}),
    ("context_create", {"name": "x", "metadata": [1]}),
    ("context_update", {"context": "nosuch", "name": "x"}),
    ("context_get", {"context": 999}),
    ("context_delete", {"context": "nosuch"}),
    ("add", {"title": "x"}),
    ("add", {"title": " ", "content": "x"}),
    ("add", {"title": "x" * 501, "content": "x"}),
    ("add", {"title": "x", "content": "y", "type": "novel"}),
    ("add", {"title": "x", "content": "y", "context": 999}),
    ("get", {"id": 999}),
    ("update", {"id": 999, "title": "x"}),
    ("delete", {"id": "memory:x"}),
    ("revisions", {"id": 999}),
    ("revisions", {"id": 1, "tail": 1}),
    ("restore", {"id": 1, "revision": 99}),
    ("relate", {"source": 1, "target": 1}),
    ("relate", {"source": 1, "target": "decision:nosuch"}),
    ("relate", {"source": 1, "target": "decision:api/auth/method", "strength": 101}),
    ("relate", {"source": 1, "target": "decision:api/auth/method", "relation": "likes"}),
]


def add_memories(hour: Hour) -> list[int]:
    """Returns the ids of the memories that are not deleted."""
    hour.chapter("Contexts")
    made = hour.tool("ada", "memory", "context_create", name="Shop", **CONTEXT)
    for changed in CONTEXT_FIELDS:
        hour.tool("ben", "memory", "context_update", context=made["id"], **changed)
    hour.tool("ben", "memory", "context_create", name="Warehouse")
    hour.chapter("Memories")
    first = int(hour.tool("ada", "memory", "add", **MEMORY)["id"])
    second = int(hour.tool("ben", "memory", "add", **{**MEMORY, "title": "Caching the list"})["id"])
    third = int(hour.tool("ben", "memory", "add", title="Hooks", content="useState adds state.")["id"])
    for changed in MEMORY_FIELDS:
        hour.tool("ben", "memory", "update", id=first, **changed)
    for query in LISTS:
        hour.tool("ada", "memory", "list", **query)
    page = hour.tool("ada", "memory", "list", limit=2)
    hour.tool("ada", "memory", "list", limit=2, cursor=page["next"])
    hour.tool("ada", "memory", "revisions", id=first, limit=2)
    hour.tool("ada", "memory", "revisions", id=first, revision=1)
    hour.tool("ada", "memory", "restore", id=first, revision=1)
    hour.tool("ada", "memory", "restore", id=first, revision=3)
    hour.tool("ada", "memory", "restore", id=first, revision=3)
    hour.tool("ada", "memory", "search", query="five minutes", context="store")
    hour.tool("ada", "memory", "get", id=first)
    hour.tool("ada", "memory", "get", id=f"memory:{first}", lines="1@5-")
    hour.tool("ada", "memory", "contexts", text="store")
    hour.tool("ada", "memory", "context_get", context="STORE")
    hour.tool("ada", "memory", "fuzzy", query="cahcing")
    hour.tool("ada", "memory", "suggest_context", text="The product list is cached in Redis.")
    text = "We decided to keep sessions in PostgreSQL 16: `sessions/store.py` needs one transaction."
    hour.tool("ada", "memory", "capture", content=text, dry_run=True)
    hour.tool("ada", "memory", "capture", content=text)
    hour.tool("ada", "memory", "capture", content=text)
    for action, arguments in REFUSED:
        hour.tool("ben", "memory", action, **arguments)
    _use_rest(hour, first)
    return [first, second, third]


def _use_rest(hour: Hour, first: int) -> None:
    hour.chapter("Contexts and memories over REST")
    hour.rest("ada", "POST", "contexts/", {"name": "REST", "tags": "a, b", "metadata": {"a": 1}})
    hour.rest("ada", "POST", "contexts/", {"name": "rest"})
    hour.rest("ada", "PATCH", "contexts/REST/", {"description": "Changed.", "tags": None})
    hour.rest("ada", "GET", "contexts/rest/")
    hour.rest("ada", "GET", "contexts/?limit=1")
    made = hour.rest("ada", "POST", "memories/", {"title": "A", "content": "B.", "context": "REST"})
    hour.rest("ada", "POST", "memories/", {"title": "A", "content": "", "type": "novel"})
    hour.rest("ada", "PATCH", f"memories/{made['id']}/", {"content": "C.", "difficulty": "hard"})
    hour.rest("ada", "PATCH", f"memories/{made['id']}/", {"content": "C.", "difficulty": "hard"})
    hour.rest("ada", "PATCH", f"memories/{made['id']}/", {"difficulty": None, "metadata": None})
    hour.rest("ada", "GET", f"memories/{made['id']}/revisions/")
    hour.rest("ada", "GET", f"memories/{made['id']}/revisions/1/?tail=1")
    hour.rest("ada", "POST", f"memories/{made['id']}/restore/", {"revision": 1})
    hour.rest("ada", "POST", f"memories/{made['id']}/restore/", {"revision": 9})
    hour.rest("ada", "GET", f"memories/{first}/")
    hour.rest("ada", "GET", "memories/?tags=caching&limit=1")
    hour.rest("ada", "DELETE", f"memories/{made['id']}/")
    hour.rest("ada", "DELETE", f"memories/{made['id']}/")
    hour.rest("ada", "POST", "memories/", {"title": "A", "content": "B.", "context": "REST"})
    hour.rest("ada", "DELETE", "contexts/REST/")
    hour.rest("ada", "DELETE", "contexts/REST/")


def relate_memories(hour: Hour, memories: list[int]) -> None:
    hour.chapter("Relationships")
    first, second, third = memories
    hour.tool("ada", "memory", "relate", source=first, target="decision:api/auth/method", strength=80)
    hour.tool("ada", "memory", "relate", source=first, target=second, relation="depends_on")
    hour.tool("ben", "memory", "relate", source=first, target=second, relation="depends_on", strength=9)
    hour.tool("ben", "memory", "relate", source=first, target=second, relation="depends_on", strength=9)
    hour.tool("ben", "memory", "relate", source="constraint:1", target=second, relation="blocks")
    hour.tool("ben", "memory", "relate", source=second, target=third)
    hour.tool("ben", "memory", "relationships", id=first, depth=3)
    hour.tool("ben", "memory", "relationships", id=second, create=True, threshold=0.2)
    hour.tool("ben", "memory", "unrelate", source=second, target=third)
    hour.tool("ben", "memory", "unrelate", source=second, target=third)
    hour.rest("ben", "POST", f"memories/{third}/relationships/", {"target": f"memory:{first}"})
    hour.rest("ben", "POST", f"memories/{third}/relationships/", {"target": first, "strength": 7})
    hour.rest("ben", "POST", f"memories/{third}/relationships/", {"target": first, "strength": 700})
    hour.rest("ben", "GET", f"memories/{third}/relationships/?depth=2")
    hour.rest("ben", "POST", f"memories/{third}/relationships/suggested/", {"threshold": 0.9})
    hour.rest("ben", "DELETE", f"memories/{third}/relationships/?target=memory:{first}")


def delete_memories(hour: Hour, memories: list[int]) -> None:
    """Relationships are deleted with their memories."""
    hour.chapter("Contexts and memories, deleted")
    hour.tool("ben", "memory", "add", **{**MEMORY, "title": "To go", "context": "Warehouse"})
    last = hour.tool("ben", "memory", "add", title="To go, too", content="So.", context="Warehouse")
    hour.tool("ben", "memory", "relate", source=last["id"], target=memories[0])
    hour.tool("ben", "delete", refs=["context:warehouse"])
    hour.tool("ben", "memory", "relationships", id=memories[0], depth=2)
    hour.tool("ben", "delete", refs=[f"memory:{memories[1]}", "memory:999", "lease:1"])
    hour.tool("ben", "memory", "contexts")
