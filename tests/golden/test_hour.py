"""What agents, people and imports do to a project in an hour, and what is stored in the end."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import time_machine
from django.test import Client

from ctxhub.core.accounts.services.access_tokens import create_token
from ctxhub.core.accounts.services.projects import create_project
from ctxhub.core.events.services import cleanup as retention
from ctxhub.core.models import Membership, Project
from tests.golden.chapters import (
    admin,
    constraints,
    decisions,
    files,
    hub,
    imports,
    memories,
    messages,
    orm,
    scratchpads,
)
from tests.golden.comparing import compare
from tests.golden.contents import contents
from tests.golden.hour import Hour, Speaker
from tests.golden.ids import Ids
from tests.hub import LiveHub
from tests.people import ADMIN, VIEWER, person, signed_in

NINE = "2026-03-02T09:00:00+00:00"
AGENTS: dict[str, tuple[str, list[str]]] = {
    "ada": ("apollo", ["read", "write", "admin"]),
    "ben": ("apollo", ["read", "write"]),
    "eve": ("apollo", ["read", "write"]),
    "reader": ("apollo", ["read"]),
    "cy": ("hermes", ["read", "write", "admin"]),
}
PEOPLE: dict[str, tuple[str, Membership.Role]] = {
    "vi": ("apollo", ADMIN),
    "mel": ("apollo", VIEWER),
    "guest": ("hermes", ADMIN),
}


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NINE, tick=False) as traveller:
        yield traveller


@pytest.fixture
def hour(hub: LiveHub, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch) -> Hour:
    # Else what is cleaned depends on how long it took to look.
    monkeypatch.setattr(retention, "REST", 0)
    Ids().align()
    projects = {slug: create_project(slug=slug) for slug in ("apollo", "hermes")}
    agents = {
        name: Speaker(create_token(project=projects[slug], agent=name, scopes=scopes).secret, slug)
        for name, (slug, scopes) in AGENTS.items()
    }
    people = {name: _signed_in(name, projects[slug], role) for name, (slug, role) in PEOPLE.items()}
    return Hour(clock, hub, agents, people)


def _signed_in(name: str, project: Project, role: Membership.Role) -> Client:
    return signed_in(person(name, project, role))


def test_an_hour(hour: Hour, tmp_path: Path) -> None:
    apollo = Project.objects.get(slug="apollo")
    decisions.set_and_changed(hour)
    decisions.batched(hour)
    decisions.listed(hour)
    decisions.ended(hour)
    decisions.over_rest(hour)
    decisions.templates(hour)
    constraints.stated(hour)
    kept = memories.kept(hour)
    memories.related(hour, kept)
    memories.gone(hour, kept)
    scratchpads.written(hour)
    messages.sent(hour)
    files.changed_and_leased(hour)
    hub.looked_up(hour)
    hub.at_a_glance(hour)
    hub.kept_apart(hour)
    admin.knowledge(hour)
    admin.memories(hour)
    admin.pads(hour)
    admin.words(hour)
    orm.written(hour, apollo)
    imports.imported_all(hour, tmp_path)
    admin.deleted(hour)
    admin.by_strangers(hour)
    hub.cleared(hour)
    stored = contents()
    compare("hour_answers.txt", hour.text)
    compare("hour_tables.txt", stored)
