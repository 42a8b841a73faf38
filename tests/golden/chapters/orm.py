"""Writes through the ORM, by somebody who acts as an agent and by nobody."""

from ctxhub.core.kit.caller import Caller, acting
from ctxhub.core.models import Agent, Project
from tests.golden.hour import Hour
from tests.golden.orm_writes import WRITTEN, Written, leaving, steps


def written(hour: Hour, project: Project) -> None:
    hour.chapter("Written through the ORM")
    for noun in WRITTEN:
        _write(hour, project, noun)
    agent = Agent.objects.in_project(project).get(folded="ben")
    agent.name = "Benjamin"
    hour.does("the ORM", "renames an agent", agent.save)


def _write(hour: Hour, project: Project, noun: Written) -> None:
    """The first half of the steps by nobody: what is made by nobody has no author."""
    caller = Caller(project=project, agent="odile")
    for number, (name, write) in enumerate(steps(noun, project)):
        if number % 2:
            with acting(caller):
                hour.does("odile", f"{noun.noun}: {name}", write)
        else:
            hour.does("nobody", f"{noun.noun}: {name}", write)
    for name, write in leaving(noun, project):
        with acting(caller):
            hour.does("odile", f"{noun.noun}: {name}", write)
