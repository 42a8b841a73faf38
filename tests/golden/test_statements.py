"""Golden files of the SQL statements of each action of the toolbox and each write of the ORM."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.db import connection
from pytest_django import Settings

from ctxhub.core.kit.caller import Caller, acting
from ctxhub.toolbox.dispatch import call
from memory.constraints.services import delete_constraint
from memory.decisions.services import change_decision, replace_decision
from memory.templates.services import change_template, delete_template, replace_template
from memory.workflows.services import update_workflow
from tests.core.test_query_counts import ASKED, fill, full_workflow, oldest_constraint
from tests.databases import rolled_back
from tests.golden.comparing import compare
from tests.golden.orm_writes import WRITTEN, steps
from tests.golden.statements import Statements, as_text, captured
from tests.periodic import prevent_periodic_work

ROWS = 3
NOON = "2026-03-02T12:00:00+00:00"

# Services that only REST and the admin call.
SERVICES: dict[str, Callable[[Caller], object]] = {
    "change_decision rationale": lambda ada: change_decision(caller=ada, key="api/k0", rationale="So."),
    "replace_decision": lambda ada: replace_decision(caller=ada, key="api/k0", value="x", tags=["a"]),
    "delete_constraint": lambda ada: delete_constraint(caller=ada, constraint_id=oldest_constraint(ada)),
    "update_workflow": lambda ada: update_workflow(caller=ada, workflow_id=full_workflow(ada), name="x"),
    "change_template": lambda ada: change_template(caller=ada, name="t0", require=["rationale"]),
    "replace_template": lambda ada: replace_template(caller=ada, name="t0", require=["rationale"]),
    "delete_template": lambda ada: delete_template(caller=ada, name="t0"),
}


@pytest.fixture(autouse=True)
def noon() -> Iterator[None]:
    with time_machine.travel(NOON, tick=False):
        yield


def test_statements_of_actions(ada: Caller, settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("so\n")
    settings.GREP_ROOTS = [("", tmp_path)]
    fill(ada, ROWS)
    statements_by_title: dict[str, Statements] = {}
    for name, given in sorted(ASKED.items()):
        for arguments in given:
            values = arguments(ROWS)
            statements_by_title[_title(name, values)] = _statements(ada, name, values)
    for name, run in SERVICES.items():
        prevent_periodic_work(ada)
        with rolled_back(), captured() as statements_by_title[name]:
            run(ada)
    compare(f"statements_of_actions_{connection.vendor}.txt", as_text(statements_by_title))


def _title(name: str, arguments: dict[str, Any]) -> str:
    shown = [f"{key}={value.__name__ if callable(value) else value}" for key, value in arguments.items()]
    return f"{name} {', '.join(shown)}"[:200]


def _statements(ada: Caller, name: str, arguments: dict[str, Any]) -> Statements:
    prevent_periodic_work(ada)
    tool, _, action = name.partition(".")
    values = {key: value(ada) if callable(value) else value for key, value in arguments.items()}
    with rolled_back(), captured() as statements:
        call(ada, tool, {**values, **({"action": action} if action else {})})
    return statements


def test_statements_of_the_orm(ada: Caller) -> None:
    statements_by_title: dict[str, Statements] = {}
    for written in WRITTEN:
        prevent_periodic_work(ada)
        with rolled_back(), acting(ada):
            for name, write in steps(written, ada.project):
                with captured() as statements:
                    write()
                statements_by_title[f"{written.noun}: {name}"] = statements
    compare(f"statements_of_the_orm_{connection.vendor}.txt", as_text(statements_by_title))
