"""Tokens of lists of tools and of answers, counted in o200k."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import bpe_openai

from benchmarks import seeding, texts
from benchmarks.databases import Hub
from benchmarks.figures import Tokens
from benchmarks.operations import tool
from benchmarks.servers import Transport, running
from benchmarks.wire import Wire

SURFACES: dict[str, tuple[str, ...]] = {
    "tools/list, all": (),
    "tools/list, core": ("--profile", "core"),
    "tools/list, flat": ("--surface", "flat"),
}
ANSWERS: dict[str, dict[str, Any]] = {
    "decision get": {"action": "get", "key": texts.key(0)},
    "decision list, 20 rows": {"action": "list"},
    "decision list, 20 rows, full": {"action": "list", "full": True},
    "decision list, rare tag, 20 rows": {"action": "list", "tags": [seeding.RARE_TAG]},
}


def measure(hub: Hub, wire: Wire) -> Iterator[Tokens]:
    count = counter()
    for what, options in SURFACES.items():
        with running(hub, Transport.STDIO, options=options) as server:
            client = server.connect(wire)
            yield Tokens(what, count(_seen(client.rpc("tools/list")["tools"])))
            if not options:
                for name, arguments in ANSWERS.items():
                    yield Tokens(name, count(compact(client.call(tool("decision", **arguments)))))


def _seen(tools: list[dict[str, Any]]) -> str:
    return compact([{name: tool[name] for name in ("name", "description", "inputSchema")} for tool in tools])


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def counter() -> Callable[[str], int]:
    encoding = bpe_openai.get_encoding("o200k_base")
    return lambda text: len(encoding.encode_ordinary(text))
