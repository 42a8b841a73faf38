"""Fills an empty hub as a team leaves it: `python -m benchmarks.sizing.filling PEOPLE MONTHS`.

It prints a token of each project as JSON, and with `--weigh ROWS` instead what a row of each noun takes.
Everything is written through the services, so that it has its history, its words in the index and its events;
only the time is changed.
"""

import argparse
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any

from benchmarks import texts
from benchmarks.seeding import tidy
from benchmarks.seeding_days import at_time, without_looking
from benchmarks.seeding_work import path
from benchmarks.sizing.model import AGENTS_PER_PERSON, HOURS_A_DAY, PEOPLE_PER_PROJECT, Team

if TYPE_CHECKING:
    from ctxhub.core.kit.caller import Caller

FILES = 2_000
BATCH = 50
IN_A_TRANSACTION = 40
DAY = timedelta(hours=HOURS_A_DAY)

# What a row takes is told by these names; REST is what a removed change leaves: its event.
CHANGE, REST = "change of a file", "event, which stays of it"

Write = Callable[["Caller"], object]
"""One call of an agent."""


def slug(number: int) -> str:
    return f"team-{number}"


def agent_name(number: int) -> str:
    return f"agent-{number:03}"


def fill(team: Team, months: float) -> list[str]:
    """Returns the token of each project."""
    from ctxhub.core.accounts.access_tokens import create_token
    from ctxhub.core.accounts.projects import create_project

    rows, tokens = team.rows(months), []
    for number in range(team.projects):
        project = create_project(slug=slug(number))
        random, share = Random(number), 1 / team.projects
        names = [agent_name(each) for each in range(_agents_of(team))]
        stays = [
            *decisions(random, round(rows.decisions * share)),
            *memories(random, round(rows.memories * share)),
        ]
        # What ages is there of a day, in which an agent sends a message an hour and edits twenty files.
        day = round(rows.messages * share)
        ages = [
            *messages(random, day),
            *changes(random, day * 20),
            *accesses(random, day * 20),
            *sessions(day),
        ]
        for writes, lasted in ((stays, timedelta(days=30 * months)), (ages, DAY)):
            random.shuffle(writes)
            write_all(project, names, writes, lasted)
        tokens.append(create_token(project=project, name="sizing").secret)
    tidy()
    return tokens


def _agents_of(team: Team) -> int:
    """In each project."""
    return min(team.people, PEOPLE_PER_PROJECT) * AGENTS_PER_PERSON


def write_all(project: Any, names: Sequence[str], writes: Sequence[Write], lasted: timedelta) -> None:
    """In turns, over the time up to now."""
    from ctxhub.core.kit.caller import Caller
    from ctxhub.core.kit.transactions import write_transaction

    callers = [Caller(project=project, agent=name) for name in names]
    began = datetime.now(UTC) - lasted
    with without_looking():
        for first in range(0, len(writes), IN_A_TRANSACTION):
            with write_transaction(project.pk), at_time(began + lasted * first / len(writes)):
                for number, write in enumerate(writes[first : first + IN_A_TRANSACTION]):
                    write(callers[number % len(callers)])


# -- What agents write -----------------------------------------------------------------------------


def decisions(random: Random, number: int) -> Iterator[Write]:
    """Each is set, and once more with another value."""
    from memory.decisions.services import set_decision_batch

    items = [_decision(random, key % number) for key in range(2 * number)]
    return (partial(_call, set_decision_batch, items=some) for some in _batches(items))


def _decision(random: Random, key: int) -> dict[str, Any]:
    return {
        "key": texts.key(key),
        "value": texts.value(random),
        "rationale": texts.reason(random),
        "tags": random.sample(texts.TAGS, 3),
        "layer": "business",
        **({"paths": [path(key % FILES)]} if key % 10 == 3 else {}),
    }


def _batches(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (items[at : at + BATCH] for at in range(0, len(items), BATCH))


def memories(random: Random, number: int) -> Iterator[Write]:
    from memory.memories.services import add_memory

    for memory in range(number):
        yield partial(
            _call,
            add_memory,
            title=f"{texts.AREAS[memory % 10]}: {texts.value(random)[:60]}",
            content=f"{texts.value(random)}\n\n{texts.reason(random)}",
            context=("general", "backend", "frontend")[memory % 3],
            tags=random.sample(texts.TAGS, 2),
        )


def messages(random: Random, number: int) -> Iterator[Write]:
    """Each to two agents, of which at most one is the sender."""
    from messaging.messages.services import send_message_batch

    items = [
        {
            "text": texts.value(random),
            "to": [agent_name(each) for each in random.sample(range(AGENTS_PER_PERSON * 5), 2)],
        }
        for _ in range(number)
    ]
    return (partial(_call, send_message_batch, items=some) for some in _batches(items))


def changes(random: Random, number: int) -> Iterator[Write]:
    from tracking.changes.services import record_change_batch

    items = [{"path": path(random.randrange(FILES)), "change": "modified"} for _ in range(number)]
    return (partial(_call, record_change_batch, items=some) for some in _batches(items))


def accesses(random: Random, number: int) -> Iterator[Write]:
    from sessions.accesses.services import track_access

    def access(caller: "Caller", place: str) -> None:
        track_access(caller=caller, path=place, access="edited", session=f"window of {caller.agent}")

    for _ in range(number):
        yield partial(access, place=path(random.randrange(FILES)))


def sessions(number: int) -> Iterator[Write]:
    from sessions.sittings.services import save_session

    for each in range(number):
        yield partial(_call, save_session, **session_values(each))


def session_values(number: int) -> dict[str, Any]:
    random = Random(number)
    return {
        "workspace_id": f"workspace {number % 9}",
        "summary": texts.value(random),
        "conversation": "\n\n".join(f"user: {texts.value(random)}" for _ in range(8)),
        "items": [{"category": "task", "content": texts.reason(random)}],
        "files": [{"path": path(number % FILES), "hash": f"{number:040x}"}],
    }


def leases(number: int) -> Iterator[Write]:
    from tracking.leases.services import acquire_lease

    for each in range(number):
        yield partial(_call, acquire_lease, paths=[f"src/new_{each}/**"], minutes=60)


def pads(random: Random, number: int) -> Iterator[Write]:
    """Appends to one pad, of which each is a revision."""
    from memory.scratchpads.services import append_to_scratchpad, create_scratchpad
    from memory.workflows.services import create_workflow

    made: list[int] = []

    def append(caller: "Caller") -> None:
        if len(made) % 50 == 0:
            workflow = create_workflow(caller=caller, name=f"Release {len(made)}")["workflow_id"]
            pad = create_scratchpad(caller=caller, workflow_id=workflow, name="Log", content="# Log")
            made.append(pad["scratchpad_id"])
        else:
            made.append(made[-1])
        append_to_scratchpad(caller=caller, scratchpad_id=made[-1], content=texts.value(random))

    return (append for _ in range(number))


def uses(number: int) -> Iterator[Write]:
    """What the hub counts in the background: a row for each agent, operation and hour."""
    from ctxhub.core.use.queries import Counted, Key, add_use

    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)

    def count_use(caller: "Caller", each: int) -> None:
        at = hour - timedelta(hours=each)
        key = Key(at, caller.agent.casefold(), "decision.set")
        add_use(caller.project_id, {key: Counted(caller.agent, True, 20, 0, 900, 900, 90)}.items())

    return (partial(count_use, each=each) for each in range(number))


def given(number: int) -> Iterator[Write]:
    """What the hub notes in the background, once an agent was given an object."""
    from ctxhub.core.accounts.agents import touch_agent
    from ctxhub.core.models import Agent
    from sessions.models import Briefing, BriefingItem

    def give(caller: "Caller", each: int) -> None:
        found = Agent.objects.in_project(caller.project_id).filter(folded=caller.agent.casefold()).first()
        if found is None:
            touch_agent(caller)
            found = Agent.objects.in_project(caller.project_id).get(folded=caller.agent.casefold())
        briefing = Briefing.objects.create(project=caller.project, agent=found, via="get", tokens=130)
        BriefingItem.objects.create(
            project=caller.project, briefing=briefing, kind="decision", object_id=each, version="1.0.0"
        )

    return (partial(give, each=each) for each in range(number))


def _call(service: Callable[..., object], caller: "Caller", **arguments: Any) -> object:
    return service(caller=caller, **arguments)


# -- What a row takes ------------------------------------------------------------------------------


def weigh(rows: int) -> Mapping[str, int]:
    """The bytes by which the database grows for a row of each noun, with what is written along with it."""
    from ctxhub.core.accounts.projects import create_project

    random = Random(1)
    kinds: Mapping[str, Iterator[Write]] = {
        "decision, set twice": decisions(random, rows),
        "memory": memories(random, rows),
        "message": messages(random, rows),
        CHANGE: changes(random, rows),
        "access to a file": accesses(random, rows),
        "saved session": sessions(rows),
        "lease": leases(rows),
        "append to a pad": pads(random, rows),
        "use, by agent, operation and hour": uses(rows),
        "answer that gave an object": given(rows),
    }
    found = {}
    names = [agent_name(number) for number in range(AGENTS_PER_PERSON * PEOPLE_PER_PROJECT)]
    numbers = count(1)
    for kind, writes in kinds.items():
        project = create_project(slug=slug(next(numbers)))
        # Its agents, words and first pages.
        write_all(project, names, [*_first(kind, rows)], DAY)
        before = stored_bytes()
        write_all(project, names, [*writes], DAY)
        found[kind] = round((stored_bytes() - before) / rows)
        if kind == CHANGE:
            _remove_changes(project.pk)
            found[REST] = round((stored_bytes() - before) / rows)
    return found


def _remove_changes(project_id: int) -> None:
    """As the cleanup does once they are old enough; their events stay."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM tracking_filechange WHERE project_id = %s", [project_id])


def _first(kind: str, rows: int) -> Iterator[Write]:
    return changes(Random(2), rows) if "file" in kind else iter(())


def stored_bytes() -> int:
    """Of the database, packed: without the room that its files have for later rows."""
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("VACUUM")
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
        else:
            cursor.execute("VACUUM FULL")
            # Without the catalog, which grows and shrinks by itself.
            cursor.execute(
                "SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
                " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
            )
        return int(cursor.fetchone()[0])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sizing.filling")
    parser.add_argument("people", type=int, nargs="?", default=0)
    parser.add_argument("months", type=float, nargs="?", default=1)
    parser.add_argument("--weigh", type=int, default=0, metavar="ROWS")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxhub.settings")
    os.environ["CTXHUB_WEB"] = "true"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    team = Team(options.people)
    print(json.dumps(weigh(options.weigh) if options.weigh else fill(team, options.months)))


if __name__ == "__main__":
    main()
