"""Random values in the cells of a file: an import takes the valid rows and skips the rest."""

import random
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from ctxhub.core.models import Project
from tests.importing.old_knowledge import OldKnowledge
from tests.importing.old_pads import SCHEMAS, OldPads
from tests.search_index import index_is_right
from tests.sqlew.importing import imported
from tests.sqlew.test_garbage import cell
from tests.tables import dump_all
from tests.tallies import counted, tallied

ROWS = 40
KNOWLEDGE = ("contexts", "memories", "relationships")


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("seed", range(4))
def test_random_scratchpads_are_imported_once(
    apollo: Project, tmp_path: Path, schema: str, seed: int
) -> None:
    file = OldPads(tmp_path / "scratchpad.db", schema)
    scatter(file.connection, ("workflows", "scratchpads"), random.Random(seed))
    file.workflow("good")
    file.pad("a pad that is good", "x", "good")
    import_twice(apollo, file.close(), "import_scratchpads", "scratchpads")


@pytest.mark.parametrize("seed", range(6))
def test_random_knowledge_is_imported_once(apollo: Project, tmp_path: Path, seed: int) -> None:
    file = OldKnowledge(tmp_path / "context.db")
    scatter(file.connection, KNOWLEDGE, random.Random(seed))
    file.context("good", "A context that is good")
    file.memory("good", context="good")
    import_twice(apollo, file.close(), "import_free_context", "memories")


def import_twice(project: Project, path: Path, command: str, kind: str) -> None:
    report = imported(path, command=command)
    assert report.counts[kind][0] >= 1
    assert tallied(project) == counted(project)
    index_is_right(project)
    before = dump_all()
    assert not imported(path, command=command).is_new
    assert dump_all() == before


def scatter(connection: sqlite3.Connection, tables: tuple[str, ...], rng: random.Random) -> None:
    """Insert rows of random cells, with ids that often refer to another row."""
    connection.execute("PRAGMA foreign_keys = OFF")
    for table in tables:
        found = connection.execute("SELECT name FROM pragma_table_info(?)", [table])
        columns = [name for (name,) in found]
        for _ in range(ROWS):
            values = [
                f"id{rng.randint(1, ROWS)}" if is_id(name) and rng.random() < 0.8 else cell(rng)
                for name in columns
            ]
            marks = ", ".join("?" * len(columns))
            with suppress(sqlite3.IntegrityError):
                connection.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", values)


def is_id(name: str) -> bool:
    return name == "id" or name.endswith("_id")
