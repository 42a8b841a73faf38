"""A pytest plugin: plays the golden hour of a checkout, fills the tables that it leaves empty, and dumps all.

It runs inside of the checkout whose database becomes a fixture, also an older one: it imports only Django and
what each version has had (tests/golden/test_hour.py).
"""

import lzma
import os
import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, models, transaction

TARGET, ROWS_ALONE = "CTXHUB_FIXTURE", "CTXHUB_FIXTURE_ROWS_ALONE"
APPS = ("core", "memory", "messaging", "tracking", "agent_sessions")
TABLES = "hour_tables.txt"
AT = datetime(2026, 3, 2, 12, tzinfo=UTC)
# What only psql reads, and what older servers do not know. Lines of texts begin otherwise.
NOT_SQL = ("\\restrict ", "\\unrestrict ", "SET transaction_timeout ")
VIRTUAL = "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%'"


@pytest.fixture(autouse=True)
def recorded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of comparing the tables at the end of the hour, write them to a file."""
    from tests.golden import test_hour

    if os.environ.get(ROWS_ALONE):
        request.getfixturevalue("hour")
        fill_empty_tables()
        dump(Path(os.environ[TARGET]))
        pytest.skip("written before the hour")

    def compare(name: str, _: str) -> None:
        if name == TABLES:
            call_command("reindex", verbosity=0)  # The hour also writes behind its back.
            fill_empty_tables()
            dump(Path(os.environ[TARGET]))

    monkeypatch.setattr(test_hour, "compare", compare)


# -- What the hour leaves empty --------------------------------------------------------------------


def fill_empty_tables() -> None:
    """Give each table of the hub without rows one, whose columns have any value of their type."""
    empty = [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.app_label in APPS and model._meta.managed and not model._base_manager.exists()
    ]
    for model in _in_order(empty):
        with transaction.atomic():
            model._base_manager.bulk_create([model(**_values(model))])


def _in_order(found: Sequence[type[models.Model]]) -> list[type[models.Model]]:
    """Those that others point to first."""
    left, done = list(found), []
    while left:
        ready = [
            model
            for model in left
            if not any(
                field.related_model in left and field.related_model is not model for field in _keys(model)
            )
        ]
        assert ready, left
        done += ready
        left = [model for model in left if model not in ready]
    return done


def _keys(model: type[models.Model]) -> list[Any]:
    return [
        each for each in model._meta.concrete_fields if isinstance(each, models.ForeignKey) and not each.null
    ]


def _values(model: type[models.Model]) -> dict[str, Any]:
    numbers = count(1)
    return {
        field.attname: _value(field, next(numbers))
        for field in model._meta.concrete_fields
        if not isinstance(field, models.AutoField)
    }


def _value(field: Any, number: int) -> Any:
    if isinstance(field, models.ForeignKey):
        row = None if field.null else field.related_model._base_manager.order_by("pk").first()
        return row and getattr(row, field.target_field.attname)
    if field.choices:
        return field.flatchoices[0][0]
    if field.has_default():
        default = field.get_default()
        if default not in ("", None):
            return default
    for kind, value in (
        (models.DateTimeField, AT + timedelta(minutes=number)),
        (models.DateField, AT.date()),
        (models.BooleanField, False),
        (models.FloatField, number / 2),
        (models.IntegerField, number),
        (models.JSONField, {"number": number}),
        (models.BinaryField, bytes([number])),
        (models.UUIDField, UUID(int=number)),
        (models.TextField, f"text {number}"),
        (models.CharField, f"text{number}"[: field.max_length]),
    ):
        if isinstance(field, kind):
            return value
    raise AssertionError(f"no value for {field}")


# -- The dump --------------------------------------------------------------------------------------


def dump(target: Path) -> None:
    """Write all tables as SQL, compressed: `xzcat` shows it."""
    lines = _of_postgresql() if connection.vendor == "postgresql" else _of_sqlite()
    text = "\n".join([*lines, ""])
    target.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def _of_sqlite() -> Iterator[str]:
    connection.ensure_connection()
    with connection.cursor() as cursor:
        for name in ("application_id", "user_version"):
            [[number]] = cursor.execute(f"PRAGMA {name}").fetchall()
            yield f"PRAGMA {name} = {number};"
        virtual = cursor.execute(VIRTUAL).fetchall()
    theirs = tuple(f'INSERT INTO "{name}" ' for (name,) in virtual)
    # Their rows are those of tables that are dumped, too.
    yield from (each for each in connection.connection.iterdump() if not each.startswith(theirs))


def _of_postgresql() -> Iterator[str]:
    known = connection.get_connection_params()
    names = {
        "host": "PGHOST",
        "port": "PGPORT",
        "user": "PGUSER",
        "password": "PGPASSWORD",
        "dbname": "PGDATABASE",
    }
    login = {names[name]: str(known[name]) for name in names if known.get(name)}
    command = ["pg_dump", "--no-owner", "--no-privileges", "--inserts", "--rows-per-insert=200"]
    done = subprocess.run(command, env={**os.environ, **login}, capture_output=True, text=True, check=True)
    return (line for line in done.stdout.split("\n") if not line.startswith(NOT_SQL))
