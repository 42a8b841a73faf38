"""The client that attacks in benchmarks.delays: `python -m benchmarks.hostile PORT`, told by its stdin.

Each line is the name of an operation and seconds; for so long it makes calls with values at every limit of
the schema, over two connections, and then prints how many.
"""

import os
import sys
import threading
import time
from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.hub import McpClient

CONNECTIONS = 2
ATTACKER = "attacker"


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxhub.settings")
    import django

    django.setup()
    from ctxhub.core.accounts.services.access_tokens import create_token
    from ctxhub.core.accounts.services.projects import create_project
    from ctxhub.core.kit.caller import READ, WRITE, Caller
    from tests.hostile_calls import READS, WRITES, hostile_calls, hostile_reads, store_what_calls_name
    from tests.hub import McpClient

    project = create_project(slug=ATTACKER)
    ids = store_what_calls_name(Caller(project=project, agent=ATTACKER, scopes=frozenset({READ, WRITE})))
    token = create_token(project=project, agent=ATTACKER, scopes=[READ, WRITE]).secret
    clients = [McpClient(int(sys.argv[1]), token) for _ in range(CONNECTIONS)]
    print(*WRITES, *READS, flush=True)
    for line in sys.stdin:
        name, seconds = line.split()
        calls = hostile_calls(WRITES[name], ids) if name in WRITES else hostile_reads(READS[name], ids)
        print(attack(clients, name, list(calls), float(seconds)), flush=True)


def attack(clients: "Sequence[McpClient]", name: str, calls: Sequence[dict[str, Any]], seconds: float) -> int:
    """Call the operation from all clients at once; return how many calls were answered."""
    tool, _, action = name.partition(".")
    named = {"action": action} if action else {}
    until = time.monotonic() + seconds
    counts = [0] * len(clients)

    def run(number: int) -> None:
        for arguments in cycle(calls):
            if time.monotonic() >= until:
                return
            clients[number].result(tool, {**named, **arguments})
            counts[number] += 1

    threads = [threading.Thread(target=run, args=[number]) for number in range(len(clients))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts)


if __name__ == "__main__":
    main()
