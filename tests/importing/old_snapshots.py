"""Databases of WakeIQX for tests, of each version, and the SQL text that Cloudflare exports of them."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Version 1 creates the tables, and each later one adds columns.
VERSIONS = (
    """
    CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE,
        applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL);
    INSERT INTO d1_migrations VALUES (1, '0001_initial.sql', '2025-10-11 12:00:00');
    CREATE TABLE context_snapshots (id TEXT PRIMARY KEY, project TEXT NOT NULL, summary TEXT NOT NULL,
        source TEXT DEFAULT 'unknown', metadata TEXT, tags TEXT DEFAULT '',
        timestamp DATETIME DEFAULT CURRENT_TIMESTAMP);
    CREATE INDEX idx_project_timestamp ON context_snapshots(project, timestamp);
    """,
    """
    ALTER TABLE context_snapshots ADD COLUMN action_type TEXT;
    ALTER TABLE context_snapshots ADD COLUMN rationale TEXT;
    ALTER TABLE context_snapshots ADD COLUMN dependencies TEXT;
    ALTER TABLE context_snapshots ADD COLUMN caused_by TEXT;
    CREATE INDEX idx_contexts_caused_by ON context_snapshots(caused_by);
    """,
    """
    ALTER TABLE context_snapshots ADD COLUMN memory_tier TEXT NOT NULL DEFAULT 'active';
    ALTER TABLE context_snapshots ADD COLUMN last_accessed TEXT;
    ALTER TABLE context_snapshots ADD COLUMN access_count INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX idx_contexts_tier_accessed ON context_snapshots(memory_tier, last_accessed DESC);
    """,
    """
    ALTER TABLE context_snapshots ADD COLUMN prediction_score REAL DEFAULT NULL;
    ALTER TABLE context_snapshots ADD COLUMN last_predicted TEXT DEFAULT NULL;
    ALTER TABLE context_snapshots ADD COLUMN predicted_next_access TEXT DEFAULT NULL;
    ALTER TABLE context_snapshots ADD COLUMN propagation_reason TEXT DEFAULT NULL;
    CREATE INDEX idx_context_snapshots_prediction_score ON context_snapshots(prediction_score DESC)
        WHERE prediction_score IS NOT NULL;
    """,
    """
    ALTER TABLE context_snapshots ADD COLUMN author_type TEXT DEFAULT 'unattributed';
    CREATE TABLE agent_tasks (id TEXT PRIMARY KEY, objective TEXT NOT NULL);
    INSERT INTO agent_tasks VALUES ('t1', 'Look.');
    """,
)
NEWEST = len(VERSIONS)
THEN = "2025-10-11T12:00:00Z"


class OldSnapshots:
    """Lists and objects are stored as JSON, times as text."""

    def __init__(self, path: Path, version: int = NEWEST) -> None:
        self.path = path
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA synchronous = OFF")
        for script in VERSIONS[:version]:
            self.connection.executescript(script)

    def close(self) -> Path:
        self.connection.close()
        return self.path

    def add(self, row_id: str = "s1", summary: Any = "We chose OAuth2.", **values: Any) -> None:
        given = {"id": row_id, "project": "auth", "summary": summary, "timestamp": THEN, **values}
        stored = [json.dumps(v) if isinstance(v, (dict, list)) else v for v in given.values()]
        marks = ", ".join("?" * len(given))
        self.connection.execute(
            f"INSERT INTO context_snapshots ({', '.join(given)}) VALUES ({marks})", stored
        )

    def export(self, path: Path) -> Path:
        """Write the SQL text, as `wrangler d1 export` does."""
        path.write_text("\n".join(self._statements()), newline="")
        return path

    def _statements(self) -> Iterator[str]:
        yield "PRAGMA defer_foreign_keys=TRUE;"
        for name, created in self._schema("table"):
            yield "DELETE FROM sqlite_sequence;" if name == "sqlite_sequence" else f"{created};"
            columns = [column for _, column, *_ in self.connection.execute(f"PRAGMA table_info({name})")]
            quoted = " || ', ' || ".join(f"quote({column})" for column in columns)
            for (values,) in self.connection.execute(f"SELECT {quoted} FROM {name}"):
                yield f'INSERT INTO "{name}" VALUES({values});'
        for _, created in self._schema("index"):
            yield f"{created};"

    def _schema(self, kind: str) -> list[tuple[str, str]]:
        """Names and statements; sqlite_sequence last, as its rows follow those of its tables."""
        return self.connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = ? AND sql IS NOT NULL"
            " ORDER BY name = 'sqlite_sequence', rowid",
            [kind],
        ).fetchall()
