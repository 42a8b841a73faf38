"""The measured calls, each with a check of its answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any

from benchmarks import seeding, seeding_work, texts

Params = dict[str, Any]

# A cursor after all events: the answer has the newest one and counts nothing.
FAR_CURSOR = "e999999999999"
BEHIND = 50


@dataclass
class Context:
    """Arguments for the calls to one server: existing keys, new keys and the newest event."""

    size: int
    random: Random = field(default_factory=lambda: Random(7))
    numbers: "count[int]" = field(default_factory=count)
    cursor: str = ""

    def refresh(self, call: Callable[[Params], dict[str, Any]]) -> None:
        """Move the cursor to the newest events; `call` makes a tool call."""
        newest = call(tool("hub", "updates", since=FAR_CURSOR))["cursor"]
        self.cursor = f"e{max(0, int(newest[1:]) - BEHIND)}"

    def new_key(self) -> str:
        return f"new/{self.random.choice(texts.AREAS)}/{next(self.numbers):06}"

    def known_key(self) -> str:
        return texts.key(self.random.randrange(self.size - 1))


@dataclass(frozen=True, slots=True)
class Operation:
    """`params` of a call of `method`; `weight`: how many ordinary calls it counts for in a round."""

    name: str
    params: Callable[[Context], Params]
    fits: Callable[[dict[str, Any]], bool]
    method: str = "tools/call"
    weight: int = 1


def new_decision(context: Context) -> Params:
    return {
        "key": context.new_key(),
        "value": texts.value(context.random),
        "layer": "business",
        "tags": context.random.sample(texts.TAGS, 3),
        "scopes": context.random.sample(texts.SCOPES, 2),
    }


def set_new(context: Context) -> Params:
    return tool("decision", "set", **new_decision(context))


def get_known(context: Context) -> Params:
    return tool("decision", "get", key=context.known_key())


def is_found(answer: dict[str, Any]) -> bool:
    return bool(answer["found"])


def _send(context: Context) -> Params:
    to = [f"agent-{context.random.randrange(8)}"]
    return tool("message", "send", text=texts.value(context.random), to=to)


def _record(context: Context) -> Params:
    path = seeding_work.path(context.random.randrange(seeding_work.FILES))
    return tool("file", "record", path=path, change="modified", layer="data")


def _lease(context: Context) -> Params:
    return tool("file", "lease", paths=[f"new/{next(context.numbers)}/*.py"], minutes=1)


def _set_known(context: Context) -> Params:
    return tool("decision", "set", key=context.known_key(), value=texts.value(context.random))


def _batch(context: Context) -> Params:
    return tool("decision", "set_batch", items=[new_decision(context) for _ in range(50)])


def tool(name: str, action: str = "", /, **arguments: Any) -> Params:
    return {"name": name, "arguments": {"action": action, **arguments} if action else arguments}


def _list(**filters: Any) -> Callable[[Context], Params]:
    return lambda _: tool("decision", "list", **filters)


def _has_rows(rows: int) -> Callable[[dict[str, Any]], bool]:
    return lambda answer: bool(answer["count"] == rows)


def _has_result(result: str) -> Callable[[dict[str, Any]], bool]:
    return lambda answer: bool(answer["result"] == result)


def _has_field(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda answer: name in answer


OPERATIONS: Sequence[Operation] = (
    Operation("ping", lambda _: {}, lambda answer: True, method="ping"),
    Operation("help", lambda _: tool("hub", "help"), _has_field("actions")),
    Operation("set", set_new, _has_result("created")),
    Operation("update", _set_known, _has_result("updated")),
    Operation("get", get_known, is_found),
    Operation("list_tag", _list(tags=[seeding.RARE_TAG]), _has_rows(20)),
    Operation("list_common_tag", _list(tags=[seeding.COMMON_TAG]), _has_rows(20)),
    Operation("list_layer", _list(layer=seeding.RARE_LAYER), _has_rows(20)),
    Operation("list_common_layer", _list(layer=seeding.COMMON_LAYER), _has_rows(20)),
    Operation("list_newest", _list(), _has_rows(20)),
    Operation("versions", lambda _: tool("decision", "versions", key=seeding.HISTORY_KEY), _has_rows(5)),
    Operation("updates", lambda c: tool("hub", "updates", since=c.cursor), _has_field("cursor")),
    Operation("updates_first", lambda _: tool("hub", "updates"), _has_field("decisions"), weight=4),
    Operation("stats", lambda _: tool("hub", "stats"), _has_field("decisions"), weight=4),
    Operation("layer_summary", lambda _: tool("hub", "layer_summary"), _has_rows(6)),
    Operation("send", _send, _has_field("thread")),
    Operation("inbox", lambda _: tool("message", "inbox"), _has_rows(20)),
    Operation("inbox_all", lambda _: tool("message", "inbox", unread=False), _has_rows(20)),
    Operation("inbox_type", lambda _: tool("message", "inbox", type="warning"), _has_rows(20)),
    Operation("record", _record, _has_field("path")),
    Operation("changes", lambda _: tool("file", "changes", since="7d"), _has_rows(20)),
    Operation("changes_layer", lambda _: tool("file", "changes", layer="data"), _has_rows(20)),
    Operation("changes_by", lambda _: tool("file", "changes", by="agent-3"), _has_rows(20)),
    Operation(
        "changes_path", lambda _: tool("file", "changes", path=seeding_work.path(7)), _has_field("rows")
    ),
    Operation(
        "check_lock", lambda _: tool("file", "check_lock", path=seeding_work.path(7)), _has_field("locked")
    ),
    Operation("lease", _lease, _has_field("fence")),
    Operation("leases", lambda _: tool("file", "leases"), _has_rows(20)),
    Operation("leases_path", lambda _: tool("file", "leases", path="docs/7/a.md"), _has_rows(1)),
    Operation("constraints", lambda _: tool("constraint", "list"), _has_rows(20)),
    Operation("set_batch", _batch, lambda answer: bool(answer["done"] == 50), weight=4),
)
