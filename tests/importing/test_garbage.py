"""Whatever stands in the cells of a file: an import takes what it can and leaves the rest."""

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
def test_garbage_in_scratchpads(apollo: Project, tmp_path: Path, schema: str, seed: int) -> None:
    file = OldPads(tmp_path / "scratchpad.db", schema)
    scatter(file.connection, ("workflows", "scratchpads"), random.Random(seed))
    file.workflow("good")
    file.pad("a pad that is good", "x", "good")
    twice(apollo, file.close(), "import_scratchpads", "scratchpads")


@pytest.mark.parametrize("seed", range(6))
def test_garbage_in_knowledge(apollo: Project, tmp_path: Path, seed: int) -> None:
    file = OldKnowledge(tmp_path / "context.db")
    scatter(file.connection, KNOWLEDGE, random.Random(seed))
    file.context("good", "A context that is good")
    file.memory("good", context="good")
    twice(apollo, file.close(), "import_free_context", "memories")


def twice(project: Project, path: Path, command: str, kind: str) -> None:
    said = imported(path, command=command)
    assert said.counts[kind][0] >= 1
    assert tallied(project) == counted(project)
    index_is_right(project)
    before = dump_all()
    assert not imported(path, command=command).is_new
    assert dump_all() == before


def scatter(connection: sqlite3.Connection, tables: tuple[str, ...], dice: random.Random) -> None:
    """Rows of any cells, with ids that often lead somewhere."""
    connection.execute("PRAGMA foreign_keys = OFF")
    for table in tables:
        found = connection.execute("SELECT name FROM pragma_table_info(?)", [table])
        columns = [name for (name,) in found]
        for _ in range(ROWS):
            values = [
                f"id{dice.randint(1, ROWS)}" if is_id(name) and dice.random() < 0.8 else cell(dice)
                for name in columns
            ]
            marks = ", ".join("?" * len(columns))
            with suppress(sqlite3.IntegrityError):
                connection.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", values)


def is_id(name: str) -> bool:
    return name == "id" or name.endswith("_id")
