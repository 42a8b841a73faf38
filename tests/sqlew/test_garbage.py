"""Random values in the cells of a file: an import takes the valid rows and skips the rest."""

import random
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from ctxhub.core.models import Project
from tests.sqlew.importing import imported
from tests.sqlew.old_file import OldFile
from tests.sqlew.schemas import SCHEMAS
from tests.tables import dump_all

ROWS = 25
CELLS = [
    *(None, 0, 1, 2, 3, 4, -1, 9, 2**62, 0.5, 1e300, float("inf"), 1_760_184_000, "1760184000"),
    *("", " ", "a", "b", "api", "data", "x" * 70_000, "a\0b", "\ud800", b"\xff\xfe", b"", "é", "e\u0301"),
    *("{", "[]", "[1, {}, null]", '{"pros": 1}', '{"pros": [{}], "cons": null}', '{"option": 1}', "NaN"),
    *("[" * 5_000, "../x", "/x", "src/a.py", f"ghp_{'a1B2' * 9}", "${AGENT}", "9" * 400, "2025-10-11"),
]


@pytest.mark.parametrize("version", SCHEMAS)
@pytest.mark.parametrize("seed", range(4))
def test_random_rows_are_skipped_and_valid_rows_imported_once(
    apollo: Project, tmp_path: Path, version: int, seed: int
) -> None:
    file = OldFile(tmp_path / "sqlew.db", version)
    scatter(file, random.Random(seed))
    file.decision("a key that is good", "JWT")
    arguments = ["--from", "main"] if version > 3 else []
    report = imported(file.close(), *arguments)
    assert report.counts["decisions"][0] >= 1
    before = dump_all()
    assert not imported(file.path, *arguments).is_new
    assert dump_all() == before


def scatter(file: OldFile, rng: random.Random) -> None:
    """Insert rows of random cells into every table, with ids that often refer to another row."""
    tables = file.connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table'"
        " AND name NOT LIKE 'sqlite%' AND name NOT LIKE '%projects'"
    )
    for (table,) in tables.fetchall():
        columns = file.connection.execute("SELECT name FROM pragma_table_info(?)", [table]).fetchall()
        for _ in range(ROWS):
            # An integer primary key takes no other type: such rows cannot be inserted.
            with suppress(sqlite3.IntegrityError):
                insert(file, table, [name for (name,) in columns if name != "id"], rng)


def insert(file: OldFile, table: str, columns: list[str], rng: random.Random) -> None:
    values = [
        rng.randint(1, 12) if name.endswith("_id") and rng.random() < 0.8 else cell(rng) for name in columns
    ]
    quoted = ", ".join(f'"{name}"' for name in columns)
    marks = ", ".join("?" * len(columns))
    file.connection.execute(f"INSERT OR IGNORE INTO {table} ({quoted}) VALUES ({marks})", values)


def cell(rng: random.Random) -> object:
    value = rng.choice(CELLS)
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) and "\ud800" in value else value
