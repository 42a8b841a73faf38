"""Calls of all operations that write, with values at every limit of their schemas."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ctxhub.core.kit.caller import ADMIN, Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.inputs import CONTENT_BYTES, LIST_LENGTH, TEXT_BYTES, WORD_LENGTH
from ctxhub.core.kit.lengths import PATH_LENGTH
from ctxhub.toolbox.actions import Action, all_tools
from ctxhub.toolbox.dispatch import call

Json = dict[str, Any]
Ids = Mapping[str, Any]

MOST_FILES = 500
MOST_DEPTH = 20
METADATA_BYTES = 60 * 1024

WRITES: dict[str, Action] = {
    action.call: action
    for tool in all_tools().values()
    for action in tool.actions.values()
    if action.writes and action.scope != ADMIN
}

READS: dict[str, Action] = {
    action.call: action
    for tool in all_tools().values()
    for action in tool.actions.values()
    if not action.writes and action.scope != ADMIN
}


def distinct_words(size: int) -> str:
    """So many bytes of words that occur once, which cost most to index."""
    return " ".join(f"w{number:06x}" for number in range(size // 8))[:size]


def lines(size: int) -> str:
    return "# x\n" * (size // 4)


GLOBS = [f"{'**/*a' * 150}{'?*' * 100}/{number}*.py"[-PATH_LENGTH:] for number in range(LIST_LENGTH)]
NAMES = [f"{number:03}{'n' * (WORD_LENGTH - 3)}" for number in range(LIST_LENGTH)]


def deep(levels: int = MOST_DEPTH - 1) -> Json:
    inner: Any = "x" * METADATA_BYTES
    for level in range(levels):
        inner = {f"level{level}": inner}
    return {"deep": inner}


def wide() -> Json:
    return {f"name{number}": number for number in range(3_000)}


def store_what_calls_name(caller: Caller) -> Ids:
    """Objects of each kind at their limits; their ids by placeholder."""
    content = distinct_words(CONTENT_BYTES)
    made = call(caller, "scratchpad", {"action": "create_workflow", "name": "flow"})
    pad = call(
        caller,
        "scratchpad",
        {"action": "create", "workflow_id": made["workflow_id"], "name": "pad", "content": content[:-9_000]},
    )
    memory = call(
        caller, "memory", {"action": "add", "title": "t", "content": "c", "context": "shop", "tags": NAMES}
    )
    for number in range(2):
        call(caller, "memory", {"action": "update", "id": memory["id"], "content": f"{number}{content[:-9]}"})
    for key in ("held", "next"):
        call(caller, "decision", {"action": "set", "key": key, "value": "v", "paths": GLOBS})
    items = [{"key": f"held/{number}", "value": "v", "paths": GLOBS[:9]} for number in range(LIST_LENGTH)]
    call(caller, "decision", {"action": "set_batch", "items": items})
    call(caller, "decision", {"action": "template_set", "name": "form"})
    message = call(caller, "message", {"action": "send", "text": "x", "to": NAMES, "type": "request"})
    rule = call(caller, "constraint", {"action": "add", "category": "c", "text": "t", "paths": GLOBS})
    snapshots = [
        call(caller, "snapshot", {"action": "save", "content": f"{number}"})["id"]
        for number in range(LIST_LENGTH)
    ]
    session = call(caller, "session", {"action": "save", "session": "s", "conversation": content})["session"]
    lease = call(caller, "file", {"action": "lease", "paths": ["mine/**"], "minutes": 1440})["lease_id"]
    return {
        "workflow_id": made["workflow_id"],
        "scratchpad_id": pad["scratchpad_id"],
        "memory": memory["id"],
        "message": message["id"],
        "constraint": rule["id"],
        "snapshots": snapshots,
        "session": session,
        "lease_id": lease,
    }


def needed(ids: Ids) -> dict[str, list[Json]]:
    """By operation: arguments that are accepted, to be combined with those at their limits."""
    pad, memory, message = (
        {name: ids[of]}
        for name, of in (("scratchpad_id", "scratchpad_id"), ("id", "memory"), ("id", "message"))
    )
    return {
        "hub.confirm": [{"refs": ["decision:held"]}],
        "delete": [
            *({"refs": [ref]} for ref in (f"memory:{ids['memory']}", "context:shop")),
            *({"refs": [f"{kind}:{ids[f'{kind}_id']}"]} for kind in ("scratchpad", "workflow")),
            {"refs": ["context:shop", f"workflow:{ids['workflow_id']}", f"session:{ids['session']}"]},
        ],
        "constraint.add": [{"category": "c", "text": "t"}],
        "constraint.deactivate": [{"id": ids["constraint"]}],
        "constraint.activate": [{"id": ids["constraint"]}],
        "memory.add": [{"title": "t", "content": "c"}],
        "memory.update": [{**memory, "context": "shop"}],
        "memory.restore": [{**memory, "revision": 2}],
        "memory.capture": [{"content": "We decided: `a/b.py` keeps tokens.", "context": "shop"}],
        "memory.context_create": [{"name": "new"}],
        "memory.context_update": [{"context": "shop"}],
        "memory.relate": [{"source": "decision:held", "target": "decision:next"}],
        "memory.unrelate": [{"source": "decision:held", "target": "decision:next"}],
        "memory.relationships": [{**memory, "create": True, "threshold": 0, "limit": 200, "depth": 5}],
        "decision.set": [{"key": "new", "value": "v"}, {"key": "held", "value": "other"}],
        "decision.set_batch": [{"items": [{"key": "new", "value": "v"}]}],
        "decision.quick_set": [{"key": "api/new", "value": "v"}],
        "decision.deprecate": [{"key": "held"}, {"key": "held", "superseded_by": "next"}],
        "decision.template_set": [{"name": "new"}],
        "decision.from_template": [{"name": "form", "key": "new", "value": "v"}],
        "scratchpad.create_workflow": [{"name": "new"}],
        "scratchpad.close_workflow": [{"workflow_id": ids["workflow_id"]}],
        "scratchpad.create": [{"workflow_id": ids["workflow_id"], "name": "new"}],
        "scratchpad.append": [{**pad, "content": "x"}],
        "scratchpad.update": [
            {**pad, "content": "x"},
            {**pad, "content": "x", "mode": "insert", "line": 1},
            {**pad, "content": "x", "mode": "replace_lines", "line": 1, "end": 1},
        ],
        "scratchpad.restore": [{**pad, "revision": 1}],
        "snapshot.save": [{"content": "c"}],
        "snapshot.retier": [{}],
        "snapshot.predict": [{"stale_hours": 0}],
        "message.send": [{"text": "t"}],
        "message.send_batch": [{"items": [{"text": "t"}]}],
        "message.read": [{"all": True}, {"ids": [ids["message"]]}],
        "message.ack": [{"ids": [ids["message"]], "agent": NAMES[0]}],
        "message.claim": [{**message, "agent": NAMES[0]}, {"next": True, "agent": NAMES[0]}],
        "message.done": [{**message, "agent": NAMES[0]}],
        "file.record": [{"path": "a.py", "change": "modified"}],
        "file.record_batch": [{"items": [{"path": "a.py", "change": "modified"}]}],
        "file.lease": [{"paths": ["a.py"]}],
        "file.renew": [{"lease_id": ids["lease_id"]}],
        "file.release": [{"lease_id": ids["lease_id"]}, {"all": True}],
        "session.save": [{"conversation": "c"}, {"session": ids["session"]}],
        "session.restore": [{"session": ids["session"]}],
        "session.track": [{"path": "a.py", "access": "edited"}],
        "session.depend": [{"source": "a.py", "target": "b.py", "type": "imports"}],
        "session.prioritize": [{"budget_tokens": 2_000_000}, {"budget_tokens": 18_000, "content": True}],
        "session.begin": [{"session": "s", "continues": "t"}],
    }


def hostile_calls(action: Action, ids: Ids) -> Iterator[Json]:
    """What is needed alone, and with all other arguments at their limits, in two ways."""
    for base in needed(ids)[action.call]:
        at_limits = {
            argument.name: _at_limits(action, argument.name, argument.schema, ids)
            for argument in action.arguments.all
            if not argument.choices and argument.name not in _kept(base)
        }
        yield base
        for way in range(2):
            yield {
                **base,
                **{name: values[way % len(values)] for name, values in at_limits.items() if values},
            }


def hostile_reads(action: Action, ids: Ids) -> Iterator[Json]:
    """All arguments at their limits, in two ways; some are refused."""
    given = {
        argument.name: _at_limits(action, argument.name, argument.schema, ids)
        for argument in action.arguments.all
        if not argument.choices and argument.name not in MEANT
    }
    for way in range(2):
        yield {name: values[way % len(values)] for name, values in given.items() if values}


def accepted(caller: Caller, action: Action, arguments: Json) -> bool:
    """Whether the call was not refused."""
    named = {"action": action.name} if action.name else {}
    try:
        call(caller, action.tool, {**named, **arguments})
    except CtxhubError:
        return False
    return True


# What a call needs may have any value there.
FREE = {"text", "content", "conversation", "value", "reason", "items", "paths", "refs", "to", "query"}
# These have to name something, or to fit the others.
MEANT = {
    "source",
    "target",
    "ids",
    "parent",
    "session",
    "reply_to",
    "caused_by",
    "dry_run",
    "layer",
    "section",
}
MEANT |= {"version", "expected_version", "expected_length", "ack_within", "line", "end", "all", "next", "id"}
MEANT |= {"relation", "superseded_by", "defaults", "workspace_id"}
TEXTS = {"text", "value", "reason", "rationale", "description", "summary", "query", "separator"}


def _kept(base: Json) -> set[str]:
    return MEANT | set(base) - FREE


def _at_limits(action: Action, name: str, schema: Mapping[str, Any], ids: Ids) -> list[Any]:
    types = schema.get("type")
    if types in ("integer", "number", "boolean"):
        return []
    if name == "items" and action.call in ITEMS:
        return [ITEMS[action.call](ids)]
    if name in LISTS:
        return [LISTS[name](ids)]
    if name in ("content", "conversation"):
        return [distinct_words(CONTENT_BYTES), lines(CONTENT_BYTES // 4)]
    if name in TEXTS:
        return [distinct_words(TEXT_BYTES), lines(TEXT_BYTES)]
    if types == "object":
        return [deep(), wide()]
    if types == "array":
        return [NAMES]
    return ["n" * WORD_LENGTH]


def _decisions(_: Ids) -> list[Json]:
    return [
        {
            "key": f"batch/{number}/{'k' * 150}",
            "value": distinct_words(18_000),
            "tags": NAMES,
            "scopes": NAMES,
            "paths": GLOBS,
            "metadata": {"n": number},
        }
        for number in range(LIST_LENGTH)
    ]


def _items(ids: Ids) -> list[Json]:
    text = distinct_words(18_000)
    return [{"category": "task", "content": f"{number} {text}"} for number in range(LIST_LENGTH)]


LISTS: dict[str, Callable[[Ids], Any]] = {
    "paths": lambda ids: GLOBS,
    "refs": lambda ids: [f"decision:held/{number}" for number in range(LIST_LENGTH)],
    "result_refs": lambda ids: [f"decision:held/{number}" for number in range(LIST_LENGTH)],
    "dependencies": lambda ids: ids["snapshots"],
    "files": lambda ids: [{"path": f"{n}{'p' * 900}", "hash": "h" * 64} for n in range(MOST_FILES)],
    "tradeoffs": lambda ids: {"pros": ["p" * 600] * LIST_LENGTH, "cons": ["c" * 600] * LIST_LENGTH},
    "payload": lambda ids: deep(),
    "alternatives": lambda ids: [{"option": "o" * 600, "why_not": "w" * 600}] * LIST_LENGTH,
    "items": _items,
}
ITEMS: dict[str, Callable[[Ids], Any]] = {
    "decision.set_batch": _decisions,
    "message.send_batch": lambda ids: [
        {"text": distinct_words(18_000), "to": NAMES, "ack": True} for _ in range(LIST_LENGTH)
    ],
    "file.record_batch": lambda ids: [
        {"path": f"{n}{'p' * 900}", "change": "modified", "description": distinct_words(18_000)}
        for n in range(LIST_LENGTH)
    ],
}
