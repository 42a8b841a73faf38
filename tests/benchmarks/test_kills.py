"""What a hub has acknowledged survives that its server is killed under load."""

import os
from dataclasses import replace

from benchmarks import kills
from benchmarks.databases import Engine, databases
from benchmarks.ledger import Findings, Ledger
from tests.postgres import names_a_server

ROUNDS = 2


def test_a_killed_server_loses_and_doubles_nothing() -> None:
    engine = Engine.POSTGRES if names_a_server(os.environ.get("DATABASE_URL", "")) else Engine.SQLITE
    with databases(engine) as factory:
        findings = kills.measure(factory, rounds=ROUNDS, seconds=0.5)
    assert findings.is_clean, findings


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
