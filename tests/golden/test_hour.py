"""Golden files of an hour of calls by agents, people and imports, and of the tables at its end."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import time_machine
from django.test import Client

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.accounts.projects import create_project
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
    sessions,
    snapshots,
)
from tests.golden.comparing import compare
from tests.golden.contents import contents
from tests.golden.hour import AgentToken, Hour
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
def hour(hub: LiveHub, clock: time_machine.Traveller) -> Hour:
    Ids().align()
    projects = {slug: create_project(slug=slug) for slug in ("apollo", "hermes")}
    agents = {
        name: AgentToken(create_token(project=projects[slug], agent=name, scopes=scopes).secret, slug)
        for name, (slug, scopes) in AGENTS.items()
    }
    people = {name: _signed_in(name, projects[slug], role) for name, (slug, role) in PEOPLE.items()}
    return Hour(clock, hub, agents, people)


def _signed_in(name: str, project: Project, role: Membership.Role) -> Client:
    return signed_in(person(name, project, role))


def test_an_hour_of_calls(hour: Hour, tmp_path: Path) -> None:
    apollo = Project.objects.get(slug="apollo")
    decisions.set_and_change(hour)
    decisions.set_batches(hour)
    decisions.list_decisions(hour)
    decisions.deprecate_and_delete(hour)
    decisions.use_rest(hour)
    decisions.use_templates(hour)
    constraints.add_and_list(hour)
    memory_ids = memories.add_memories(hour)
    memories.relate_memories(hour, memory_ids)
    memories.delete_memories(hour, memory_ids)
    scratchpads.write_pads(hour)
    messages.send_and_read(hour)
    files.record_and_lease(hour)
    hub.get_and_search(hour)
    hub.read_and_configure(hour)
    hub.refuse_strangers_and_readers(hour)
    admin.edit_knowledge(hour)
    admin.edit_memories(hour)
    admin.edit_pads(hour)
    admin.rename_vocabulary(hour)
    orm.write_all(hour, apollo)
    imports.import_all_twice(hour, tmp_path)
    admin.delete_rows(hour)
    admin.open_as_strangers(hour)
    hub.clear(hour)
    hour.join(
        "viewer", AgentToken(create_token(project=apollo, name="viewer", scopes=["read"]).secret, "apollo")
    )
    snapshot_ids = snapshots.save_and_read(hour)
    snapshots.walk_and_predict(hour, snapshot_ids)
    snapshots.use_rest(hour, snapshot_ids)
    snapshots.refuse_strangers_and_readers(hour, snapshot_ids)
    session_ids = sessions.save_and_restore(hour)
    sessions.track_and_prioritize(hour, session_ids)
    sessions.use_rest(hour)
    sessions.refuse_strangers_and_readers(hour, session_ids)
    orm.write_sessions(hour, apollo)
    snapshots.import_twice(hour, tmp_path)
    stored = contents()
    compare("hour_answers.txt", hour.text)
    compare("hour_tables.txt", stored)
