"""Fills an empty database: `python -m benchmarks.seeding SIZE` prints the token that opens it.

It writes through the service, fifty decisions at a time, so that the same rows are written as in use: links,
events, history. Only the time is changed, over half a year.

Whatever the size, RARE_TAG and RARE_LAYER are on exactly twenty active decisions each, COMMON_TAG is on 40 %,
COMMON_LAYER on a quarter, and HISTORY_KEY has five versions.
"""

import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from benchmarks import texts
from benchmarks.seeding_work import READER, seed_work

if TYPE_CHECKING:
    from ctxhub.core.kit.caller import Caller

RARE_TAG, COMMON_TAG = "rare", "common"
RARE_LAYER, COMMON_LAYER = "planning", "data"
LAYERS = (COMMON_LAYER, "business", "presentation", "cross-cutting")
HISTORY_KEY = "history/of/five"
RARE = 20
AGENTS = 8
BATCH = 50
BATCHES_IN_A_TRANSACTION = 40
SPAN = timedelta(days=180)


def items_of(size: int) -> Iterator[dict[str, Any]]:
    """The arguments of `decision set`, in the order in which they are written."""
    random = Random(size)
    rare_tags = {rank * size // RARE for rank in range(RARE)}
    rare_layers = {number + 1 for number in rare_tags}
    for number in range(size - 1):
        tags = random.sample(texts.TAGS, 3)
        if number % 5 < 2:
            tags[0] = COMMON_TAG
        if number in rare_tags:
            tags[1] = RARE_TAG
        is_ended = number % 20 == 7 and number not in rare_tags | rare_layers
        yield {
            "key": texts.key(number),
            "value": texts.value(random),
            "layer": RARE_LAYER if number in rare_layers else LAYERS[number % 4],
            "tags": tags,
            "scopes": random.sample(texts.SCOPES, 2),
            "rationale": texts.reason(random),
            "status": "deprecated" if is_ended else "active",
        }
    for _ in range(5):
        yield {"key": HISTORY_KEY, "value": texts.value(random)}
    for number in range(3, size - 1, 4):
        yield {"key": texts.key(number), "value": texts.value(random)}


def seed(size: int) -> str:
    """Fill the database of Django's settings; return a token that reads and writes."""
    from ctxhub.core.accounts.access_tokens import create_token
    from ctxhub.core.accounts.projects import create_project
    from ctxhub.core.kit.caller import Caller
    from ctxhub.core.kit.transactions import write_transaction
    from ctxhub.core.models import Layer
    from memory.decisions.services import set_decision_batch

    project = create_project(slug="bench")
    Layer.unscoped.create(project=project, name=RARE_LAYER, position=9)
    callers = [Caller(project=project, agent=f"agent-{number}") for number in range(AGENTS)]
    items = list(items_of(size))
    batches = [items[at : at + BATCH] for at in range(0, len(items), BATCH)]
    step = SPAN / len(batches)
    started = datetime.now(UTC) - SPAN
    for first in range(0, len(batches), BATCHES_IN_A_TRANSACTION):
        with write_transaction(project.pk):
            for number in range(first, min(first + BATCHES_IN_A_TRANSACTION, len(batches))):
                with patch("ctxhub.core.kit.clock.now", return_value=started + number * step):
                    set_decision_batch(caller=callers[number % AGENTS], items=batches[number])
    seed_work([*callers, register(Caller(project=project, agent=READER))], size, LAYERS)
    return create_token(project=project, name="bench").secret


def register(caller: "Caller") -> "Caller":
    """Register the agent, so that it gets messages to everyone."""
    from ctxhub.core.accounts.agents import touch_agent

    touch_agent(caller)
    return caller


def tidy() -> None:
    """Collect statistics and clean up after loading, as in a database in use."""
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("ANALYZE")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        else:
            cursor.execute("VACUUM ANALYZE")


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxhub.settings")
    os.environ["CTXHUB_WEB"] = "true"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    token = seed(int(sys.argv[1]))
    tidy()
    print(token)


if __name__ == "__main__":
    main()
