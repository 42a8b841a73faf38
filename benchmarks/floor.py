"""The lower bound: sqlite3 without the hub, in one process, writing and reading the same rows."""

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any

from benchmarks import seeding, texts
from benchmarks.databases import Hub
from benchmarks.figures import Floor, timing

PRAGMAS = (
    *("journal_mode=WAL", "synchronous=NORMAL", "mmap_size=268435456", "cache_size=-16384"),
    *("temp_store=MEMORY", "foreign_keys=ON"),
)
# An ordinary decision, without the rare tag and the rare layer at any size.
PATTERN = texts.key(4)
LINKS = ("memory_decisiontag", "memory_decisionscope")
READ = """
    SELECT d.*, a.name, l.name,
      (SELECT json_group_array(t.name) FROM memory_decisiontag x JOIN core_tag t ON t.id = x.tag_id
        WHERE x.decision_id = d.id),
      (SELECT json_group_array(s.name) FROM memory_decisionscope x JOIN core_scope s ON s.id = x.scope_id
        WHERE x.decision_id = d.id)
    FROM memory_decision d
    LEFT JOIN core_agent a ON a.id = d.agent_id LEFT JOIN core_layer l ON l.id = d.layer_id"""
BY_KEY = f"{READ} WHERE d.project_id = ? AND d.key = ?"
BY_TAG = f"""{READ} JOIN (
      SELECT x.decision_id AS id FROM memory_decisiontag x CROSS JOIN memory_decision w
      WHERE x.tag_id = (SELECT id FROM core_tag WHERE project_id = ? AND folded = ?)
        AND w.id = x.decision_id AND w.project_id = ? AND w.status = 1
      ORDER BY x.updated_at DESC, x.decision_id DESC LIMIT 21) f ON f.id = d.id
    ORDER BY d.updated_at DESC, d.id DESC"""


@dataclass
class Row:
    """A row of a table, which can be inserted again with other values."""

    table: str
    values: dict[str, Any]

    def insert(self, connection: sqlite3.Connection, **changed: Any) -> int:
        values = {**self.values, **changed}
        columns, marks = ", ".join(values), ", ".join("?" * len(values))
        cursor = connection.execute(
            f"INSERT INTO {self.table} ({columns}) VALUES ({marks})", list(values.values())
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid


@dataclass
class PlainSqlite:
    """A decision with its links, event and revision, read once as the template of written rows."""

    connection: sqlite3.Connection
    size: int
    random: Random = field(default_factory=lambda: Random(7))
    numbers: "count[int]" = field(default_factory=count)

    def __post_init__(self) -> None:
        [self.decision] = self._rows("memory_decision", "key = ?", PATTERN, without=())
        self.project_id = self.decision.values["project_id"]
        self.id = self.decision.values.pop("id")
        self.links = [row for table in LINKS for row in self._rows(table, "decision_id = ?", self.id)]
        self.event = self._rows("core_event", "ref = ?", f"decision:{PATTERN}")[0]
        self.revision = self._rows("memory_decisionrevision", "1 = ? LIMIT 1", 1)[0]

    def set(self) -> None:
        key = f"floor/{next(self.numbers)}"
        self._begin()
        self.connection.execute(BY_KEY, [self.project_id, key]).fetchall()
        decision = self.decision.insert(self.connection, key=key)
        for link in self.links:
            link.insert(self.connection, decision_id=decision)
        self.event.insert(self.connection, ref=f"decision:{key}")
        self.connection.execute("COMMIT")

    def update(self) -> None:
        key = self._known_key()
        self._begin()
        [row] = self.connection.execute(BY_KEY, [self.project_id, key]).fetchall()
        moment = self.decision.values["updated_at"]
        self.connection.execute(
            "UPDATE memory_decision SET value = ?, updated_at = ? WHERE id = ?",
            [texts.value(self.random), moment, row[0]],
        )
        for table in LINKS:
            self.connection.execute(
                f"UPDATE {table} SET updated_at = ? WHERE decision_id = ?", [moment, row[0]]
            )
        self.revision.insert(self.connection, decision_id=row[0])
        self.event.insert(self.connection, ref=f"decision:{key}")
        self.connection.execute("COMMIT")

    def get(self) -> None:
        [_] = self.connection.execute(BY_KEY, [self.project_id, self._known_key()]).fetchall()

    def list_tag(self) -> None:
        values = [self.project_id, seeding.RARE_TAG, self.project_id]
        assert len(self.connection.execute(BY_TAG, values).fetchall()) == seeding.RARE

    def _begin(self) -> None:
        self.connection.execute("BEGIN IMMEDIATE")

    def _known_key(self) -> str:
        return texts.key(self.random.randrange(self.size - 1))

    def _rows(self, table: str, where: str, value: Any, without: Sequence[str] = ("id",)) -> list[Row]:
        cursor = self.connection.execute(f"SELECT * FROM {table} WHERE {where}", [value])
        names = [column[0] for column in cursor.description]
        rows = (dict(zip(names, values, strict=True)) for values in cursor.fetchall())
        return [
            Row(table, {name: value for name, value in row.items() if name not in without}) for row in rows
        ]


def measure(hubs: Sequence[Hub], *, rounds: int, calls: int) -> list[Floor]:
    return [floor for hub in hubs for floor in _measure(hub, rounds, calls)]


def _measure(hub: Hub, rounds: int, calls: int) -> Iterator[Floor]:
    with closing(sqlite3.connect(hub.file, isolation_level=None)) as connection:
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        plain = PlainSqlite(connection, hub.size)
        operations: dict[str, Callable[[], None]] = {
            "set": plain.set,
            "update": plain.update,
            "get": plain.get,
            "list_tag": plain.list_tag,
        }
        for name, run in operations.items():
            run()
            yield Floor(hub.size, name, timing([[_timed(run) for _ in range(calls)] for _ in range(rounds)]))


def _timed(run: Callable[[], None]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started
