"""Fills an empty database as a team's hub is after two weeks.

    python -m benchmarks.seeded_hub [--database URL]

Twelve agents, 10,000 decisions and 100,000 events. Two agents are silent and hold what others want, requests
wait for somebody, acknowledgements are overdue, decisions are older than changes of their files, and some
texts and names are hostile. It prints who can sign in.
"""

import argparse
import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING

from benchmarks import texts
from benchmarks.databases import PROJECT
from benchmarks.seeding import RARE_LAYER, tidy
from benchmarks.seeding_days import (
    AGENTS,
    DAYS,
    HOURS,
    SILENT,
    SILENT_HOURS,
    at_time,
    fill_days,
    hostile,
    without_looking,
)
from benchmarks.seeding_work import path

if TYPE_CHECKING:
    from ctxhub.core.kit.caller import Caller
    from ctxhub.core.models import Project

DECISIONS, EVENTS = 10_000, 100_000
# The most that a project may set: messages of the week before are gone.
MESSAGE_HOURS = 168
ADMINISTRATOR, VIEWER = "admin", "viewer"
PASSWORD = "only-for-benchmarks"
OPERATIONS = (
    *("decision.set", "decision.get", "decision.search", "message.send", "message.inbox", "file.record"),
    *("file.lease", "hub.updates", "memory.add", "search", "brief", "get"),
)
READING = ("get", "search", "inbox", "updates", "brief")


def seed(decisions: int = DECISIONS, events: int = EVENTS, *, hours: int = HOURS) -> "Project":
    """Fill the database of Django's settings, with the work of the last `hours`."""
    from ctxhub.core.accounts.projects import create_project
    from ctxhub.core.events.cleanup import cleanup
    from ctxhub.core.kit.caller import Caller
    from ctxhub.core.models import Layer

    now = datetime.now(UTC)
    project = create_project(slug=PROJECT, name="Seeded")
    project.config = {"message_hours": MESSAGE_HOURS, "change_days": DAYS + 1, "scratchpad_days": DAYS + 1}
    project.save()
    Layer.unscoped.create(project=project, name=RARE_LAYER, position=9)
    callers = [Caller(project=project, agent=name) for name in AGENTS]
    with without_looking():
        fill_days(callers, decisions, events, now, hours)
    cleanup(project.pk)
    _add_needs(callers, now)
    _add_use(project, now)
    _add_people(project)
    return project


def _add_needs(callers: Sequence["Caller"], now: datetime) -> None:
    """What needs a person: silent holders, overdue acknowledgements, requests that nobody claims."""
    from ctxhub.core.models import Agent
    from messaging.messages.services import send_message
    from messaging.retention import tell_overdue
    from tracking.leases.services import acquire_lease

    leases = []
    for number, holder in enumerate(callers[-len(SILENT) :]):
        with at_time(now - timedelta(hours=SILENT_HOURS)):
            held = acquire_lease(
                caller=holder,
                paths=[f"deploy/{number}/**", path(number)],
                minutes=1_440,
                reason="A migration.",
            )
        leases.append(held["lease_id"])
    # Later than what silent agents wrote, so that these are the newest events.
    for number, sender in enumerate(callers[:6]):
        with at_time(now - timedelta(minutes=290 - number)):
            send_message(
                caller=sender,
                text=hostile(number, every=2) or texts.CHOICES[number],
                to=[*SILENT, callers[8].agent],
                priority="critical",
                ack_within="1h",
            )
            send_message(caller=sender, text=texts.CHOICES[-number], type="request", to=[AGENTS[number + 1]])
            acquire_lease(caller=sender, paths=[f"web/{number}/**"], minutes=600)
    for number, caller in enumerate(callers[: -len(SILENT)]):
        seen = Agent.objects.in_project(caller.project_id).filter(folded=caller.agent.casefold())
        seen.update(last_seen_at=now - timedelta(minutes=2 * number))
    tell_overdue(callers[0].project_id, now)
    _add_refusals(callers, leases, now)


def _add_refusals(callers: Sequence["Caller"], leases: Sequence[int], now: datetime) -> None:
    """Forty a day; lately because of the leases of silent agents."""
    from ctxhub.core.refusals.services import Counted, Key, add_refusals

    random, counts = Random(4), {}
    for number in range(40 * DAYS):
        at = now - timedelta(minutes=DAYS * 24 * 60 * (number / (40 * DAYS)) ** 2)
        name = random.choice(AGENTS[: -len(SILENT)])
        is_late = now - at < timedelta(hours=SILENT_HOURS)
        ref = f"lease:{leases[number % len(leases)]}" if is_late else f"decision:{texts.key(number)}"
        key = Key(ref, name.casefold(), "conflict", at.replace(second=0, microsecond=0))
        counts[key] = Counted(name, 1 + number % 4, at, at, hostile(number, every=9)[:200] or "It is taken.")
    add_refusals(callers[0].project_id, counts.items())


def _add_use(project: "Project", now: datetime) -> None:
    """The tokens of each agent, operation and hour, and questions that found nothing."""
    from ctxhub.core.use.queries import AskedTimes, Counted, Key, add_empty_searches, add_use

    random, this_hour = Random(5), now.replace(minute=0, second=0, microsecond=0)
    counts = {}
    for hour in range(HOURS):
        at = this_hour - timedelta(hours=hour)
        for name in AGENTS if hour > SILENT_HOURS else AGENTS[: -len(SILENT)]:
            for operation in random.sample(OPERATIONS, 5):
                calls = 1 + random.randrange(20 if 8 <= at.hour < 19 else 6)
                tokens = calls * random.randrange(40, 900)
                writes = operation.rpartition(".")[2] not in READING
                whole = tokens if writes else tokens * random.randrange(1, 6)
                counts[Key(at, name.casefold(), operation)] = Counted(
                    name, writes, calls, calls // 9, tokens, whole, tokens // calls * 2
                )
    add_use(project.pk, counts.items())
    asked = {}
    for number in range(300):
        query = (
            hostile(number, every=10)[:190]
            or f"{texts.AREAS[number % 10]} {texts.TAGS[number % 18]} {number}"
        )
        at = now - timedelta(hours=number)
        asked[query.casefold()] = AskedTimes(query, AGENTS[number % 8], 1 + number % 7, at, at)
    add_empty_searches(project.pk, asked.items())


def _add_people(project: "Project") -> None:
    from django.contrib.auth.models import User

    from ctxhub.core.models import Membership

    User.objects.create_superuser(ADMINISTRATOR, password=PASSWORD)
    viewer = User.objects.create_user(VIEWER, password=PASSWORD, is_staff=True)
    Membership.objects.create(project=project, user=viewer, role=Membership.Role.VIEWER)


def set_up(database: str | None) -> None:
    """Set up Django with the database, and migrate it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxhub.settings")
    os.environ["CTXHUB_WEB"] = "true"
    if database:
        os.environ["DATABASE_URL"] = database
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.seeded_hub")
    parser.add_argument("--database", help="a URL; left out: DATABASE_URL, else the hub's own")
    parser.add_argument("--decisions", type=int, default=DECISIONS)
    parser.add_argument("--events", type=int, default=EVENTS)
    options = parser.parse_args()
    set_up(options.database)
    started = time.perf_counter()
    seed(options.decisions, options.events)
    tidy()
    from ctxhub.core.models import Event
    from memory.models import Decision

    counts = f"{Decision.unscoped.count():,} decisions, {Event.unscoped.count():,} events"
    print(f"{counts} in {time.perf_counter() - started:.0f} s.")
    print(f"Sign in as {ADMINISTRATOR} or {VIEWER} with {PASSWORD}.")


if __name__ == "__main__":
    main()
