"""Writes through the ORM, as an agent and without one."""

from ctxhub.core.kit.caller import Caller, acting
from ctxhub.core.models import Agent, Project
from tests.golden.hour import Hour
from tests.golden.orm_writes import KNOWLEDGE, SESSIONS, Written, steps, steps_of_kept_row


def write_all(hour: Hour, project: Project) -> None:
    hour.chapter("Written through the ORM")
    for noun in KNOWLEDGE:
        _write_noun(hour, project, noun)
    agent = Agent.objects.in_project(project).get(folded="ben")
    agent.name = "Benjamin"
    hour.does("the ORM", "renames an agent", agent.save)


def write_sessions(hour: Hour, project: Project) -> None:
    hour.chapter("Snapshots and sessions, written through the ORM")
    for noun in SESSIONS:
        _write_noun(hour, project, noun)


def _write_noun(hour: Hour, project: Project, noun: Written) -> None:
    """Every second step is without an agent: rows that nobody creates have no author."""
    caller = Caller(project=project, agent="odile")
    for number, (name, write) in enumerate(steps(noun, project)):
        if number % 2:
            with acting(caller):
                hour.does("odile", f"{noun.noun}: {name}", write)
        else:
            hour.does("nobody", f"{noun.noun}: {name}", write)
    for name, write in steps_of_kept_row(noun, project):
        with acting(caller):
            hour.does("odile", f"{noun.noun}: {name}", write)
