"""The client that attacks in benchmarks.delays: `python -m benchmarks.hostile PORT`, told by its stdin.

Each line is the name of an attack and seconds; for so long it makes its calls over four connections, and then
prints how many. The attack is an operation with values at every limit of the schema, or one of `chosen`.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from ctxhub.mcp.json_size import MOST_VALUES

if TYPE_CHECKING:
    from ctxhub.core.kit.caller import Caller
    from tests.hub import McpClient

CONNECTIONS = 4
ATTACKER = "attacker"
DECISIONS = 2_000
BATCH = 50
VALUES = MOST_VALUES - 1_000
MEBIBYTE = 1024 * 1024

Send = Callable[["McpClient"], object]
"""Makes one call."""


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxhub.settings")
    import django

    django.setup()
    from ctxhub.core.accounts.access_tokens import create_token
    from ctxhub.core.accounts.projects import create_project
    from ctxhub.core.kit.caller import READ, WRITE, Caller
    from tests.hostile_calls import READS, WRITES, store_what_calls_name
    from tests.hub import McpClient

    project = create_project(slug=ATTACKER)
    caller = Caller(project=project, agent=ATTACKER, scopes=frozenset({READ, WRITE}))
    ids = store_what_calls_name(caller)
    attacks = chosen(caller)
    token = create_token(project=project, agent=ATTACKER, scopes=[READ, WRITE]).secret
    clients = [McpClient(int(sys.argv[1]), token) for _ in range(CONNECTIONS)]
    print(*attacks, *WRITES, *READS, flush=True)
    for line in sys.stdin:
        name, seconds = line.split()
        print(attack(clients, attacks.get(name) or list(at_limits(name, ids)), float(seconds)), flush=True)


def chosen(caller: "Caller") -> dict[str, Sequence[Send]]:
    """Reads that cost most, each by its name, and what they read."""
    from ctxhub.toolbox.dispatch import call
    from tests.hostile_calls import distinct_words

    flow = call(caller, "scratchpad", {"action": "create_workflow", "name": "headings"})["workflow_id"]
    headings = {"workflow_id": flow, "name": "pad", "content": "# x\n" * (MEBIBYTE // 4)}
    pad = call(caller, "scratchpad", {"action": "create", **headings})["scratchpad_id"]
    text = "common words of many decisions about tokens and caches " * 8
    for first in range(0, DECISIONS, BATCH):
        items = [
            {"key": f"common/{n}", "value": f"{text}{n}", "paths": [f"src/**/a{n}/**/*.py", f"**/*{n}*"]}
            for n in range(first, first + BATCH)
        ]
        call(caller, "decision", {"action": "set_batch", "items": items})
    stars = [f"{'**/*a' * 150}{'?*' * 100}/{n}*.py"[-1_000:] for n in range(BATCH)]
    values = {"action": "list", **{f"name{n}": 1 for n in range(VALUES)}}
    common = {"query": text[:55], "limit": 200, "detail": "detailed"}
    similar = {"action": "similar", "text": distinct_words(64 * 1024), "limit": 200}
    return {
        "attack.outline": [
            _tool("scratchpad", {"action": "get", "scratchpad_id": pad, "outline": True}),
        ],
        "attack.check": [
            _tool("check", {"paths": [f"**/*{n}*/**" for n in range(BATCH)]}),
            _tool("check", {"paths": stars}),
        ],
        "attack.search": [_tool("search", common), _tool("memory", {**common, "action": "search"})],
        "attack.similar": [_tool("memory", similar), _tool("search", {**common, "match": "similar"})],
        "attack.values": [_tool("decision", values)],
        "attack.values_rest": [
            lambda client: client.send("POST", f"/api/v1/projects/{ATTACKER}/decisions/", values)
        ],
    }


def at_limits(name: str, ids: Mapping[str, Any]) -> Iterator[Send]:
    """The calls of an operation with values at every limit."""
    from tests.hostile_calls import READS, WRITES, hostile_calls, hostile_reads

    tool, _, action = name.partition(".")
    named = {"action": action} if action else {}
    calls = hostile_calls(WRITES[name], ids) if name in WRITES else hostile_reads(READS[name], ids)
    return (_tool(tool, {**named, **arguments}) for arguments in calls)


def _tool(tool: str, arguments: dict[str, Any]) -> Send:
    return lambda client: client.result(tool, arguments)


def attack(clients: "Sequence[McpClient]", calls: Sequence[Send], seconds: float) -> int:
    """Make the calls from all clients at once; return how many were answered."""
    until = time.monotonic() + seconds
    counts = [0] * len(clients)

    def run(number: int) -> None:
        for send in cycle(calls):
            if time.monotonic() >= until:
                return
            send(clients[number])
            counts[number] += 1

    threads = [threading.Thread(target=run, args=[number]) for number in range(len(clients))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts)


if __name__ == "__main__":
    main()
