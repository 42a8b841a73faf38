"""What bridges tell their clients while the hub is killed and started again is the truth."""

import os
from random import Random

import pytest

from benchmarks import bridges
from benchmarks.bridges import Findings, Ledger, Plan, Told
from benchmarks.databases import Engine, databases
from tests.postgres import names_a_server

PLAN = Plan(calls=300, bridges=6, restarts=1)


def test_nothing_is_lost_and_nothing_done_unsaid() -> None:
    engine = Engine.POSTGRES if names_a_server(os.environ.get("DATABASE_URL", "")) else Engine.SQLITE
    with databases(engine) as factory:
        found = bridges.measure(factory, PLAN, Random(1))
    assert found.is_clean, found
    assert (found.writes + found.reads, found.restarts) == (300, 1)


def test_findings_are_clean_only_if_every_answer_was_true() -> None:
    told = {"a": Told.DONE, "b": Told.DONE, "c": Told.NOT_DONE, "d": Told.MAYBE, "e": Told.MAYBE}
    stored = {"a": 1, "b": 1, "d": 1}

    def findings(**changed: int) -> Findings:
        return bridges._compared(Ledger(5, told), {**stored, **changed}, 1)

    clean = findings()
    assert (clean.is_clean, clean.done, clean.maybe, clean.maybe_done) == (True, 2, 2, 1)
    assert findings(a=0).lost == 1
    assert findings(d=2).doubled == 1
    assert findings(c=1).done_unsaid == 1
    assert not any(each.is_clean for each in (findings(a=0), findings(d=2), findings(c=1)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The hub at x cannot be reached (y): nothing was done. Go on without it.", Told.NOT_DONE),
        ("The hub at x did not answer (y). It may have been done: look before you repeat it.", Told.MAYBE),
        ('{"error":"busy","retry_after":1}', Told.REFUSED),
        ('{"error":"invalid"}', None),
    ],
)
def test_an_answer_is_read_as_the_bridge_means_it(text: str, expected: Told | None) -> None:
    assert bridges._told(text, is_error=True) is expected
    assert bridges._told(text, is_error=False) is Told.DONE
