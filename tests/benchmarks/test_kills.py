"""What a hub has acknowledged survives that its server is killed under load."""

import os
from dataclasses import replace
from random import Random

import pytest

from benchmarks import kills, webhooks
from benchmarks.database_kills import SETTINGS, DatabaseKills
from benchmarks.databases import Engine, databases, databases_of, temporary_server
from benchmarks.ledger import Findings, Ledger
from tests.postgres import names_a_server

ROUNDS = 2


@pytest.fixture
def engine() -> Engine:
    """That the tests run on."""
    return Engine.POSTGRES if names_a_server(os.environ.get("DATABASE_URL", "")) else Engine.SQLITE


def test_a_killed_server_loses_and_doubles_nothing(engine: Engine) -> None:
    with databases(engine) as factory:
        findings = kills.measure(factory, rounds=ROUNDS, seconds=0.5)
    assert findings.is_clean, findings


@pytest.mark.django_db  # So that it runs on PostgreSQL, where it has a server of its own.
def test_a_killed_database_keeps_nothing_from_webhooks_and_streams(engine: Engine) -> None:
    if engine is not Engine.POSTGRES:
        pytest.skip("SQLite is no process.")
    plan = webhooks.Plan(events=100, database_kills=1, followers=1)
    with temporary_server(SETTINGS) as server, databases_of(server.url) as factory:
        found = webhooks.measure(factory, plan, DatabaseKills(server, Random(1)))
    assert found.is_clean, found
    assert found.streams_opened == 1


def test_findings_are_clean_only_if_something_was_written_and_nothing_is_wrong() -> None:
    clean = Findings(2, 100, 0, 0, 0, 0, 0, 0, 0)
    assert clean.is_clean
    assert not replace(clean, acknowledged=0).is_clean
    assert not replace(clean, lost=1).is_clean
    assert not replace(clean, events_missed=1).is_clean


def test_a_lease_that_two_hold_is_counted() -> None:
    ledger = Ledger("", "")
    for agent in ("ada", "ada", "ben"):
        ledger.note_lease(agent)
    assert ledger.overlapping_leases == 1
    ledger.note_release()
    ledger.note_lease("ada")
    assert ledger.overlapping_leases == 1
