"""Databases of scratchpads for tests: by the published design, and as the real program makes them."""

import json
import sqlite3
from pathlib import Path
from typing import Any

DESIGN = """
    CREATE TABLE workflows (id TEXT PRIMARY KEY, name TEXT, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
        metadata TEXT);
    CREATE TABLE scratchpads (id TEXT PRIMARY KEY, workflow_id TEXT NOT NULL, name TEXT NOT NULL,
        content TEXT, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
        updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, FOREIGN KEY (workflow_id) REFERENCES workflows(id));
    CREATE VIRTUAL TABLE scratchpad_fts USING fts5(content, scratchpad_id UNINDEXED, workflow_id UNINDEXED);
"""
PROGRAM = """
    CREATE TABLE workflows (id TEXT PRIMARY KEY, name TEXT NOT NULL, description TEXT,
        created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, is_active BOOLEAN NOT NULL DEFAULT 1,
        project_scope TEXT);
    CREATE TABLE scratchpads (id TEXT PRIMARY KEY, workflow_id TEXT NOT NULL, title TEXT NOT NULL,
        content TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
        size_bytes INTEGER NOT NULL, FOREIGN KEY (workflow_id) REFERENCES workflows(id) ON DELETE CASCADE);
    CREATE VIRTUAL TABLE scratchpads_fts USING fts5(title, content, content='scratchpads');
"""
SCHEMAS = {"design": DESIGN, "program": PROGRAM}


class OldPads:
    """Writes only those of the given values for which there is a column."""

    def __init__(self, path: Path, schema: str = "design") -> None:
        self.path = path
        self.is_program = schema == "program"
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA synchronous = OFF")
        self.connection.executescript(SCHEMAS[schema])

    def close(self) -> Path:
        self.connection.close()
        return self.path

    def workflow(
        self, row_id: str | None = "w1", name: Any = "Refactoring", at: Any = 1_760_184_000, **values: Any
    ) -> None:
        if "metadata" in values:
            values["metadata"] = json.dumps(values["metadata"], ensure_ascii=False)
        self.insert("workflows", id=row_id, name=name, **{"created_at": at, "updated_at": at, **values})

    def pad(
        self,
        name: Any = "analysis",
        content: Any = "Found.",
        workflow: str = "w1",
        at: Any = 1_760_184_000,
        **values: Any,
    ) -> None:
        [(count,)] = self.connection.execute("SELECT count(*) FROM scratchpads")
        self.insert(
            "scratchpads",
            id=f"p{count}",
            workflow_id=workflow,
            content=content,
            **{"title" if self.is_program else "name": name, "size_bytes": 1},
            **{"created_at": at, "updated_at": at, **values},
        )

    def insert(self, table: str, **values: Any) -> None:
        known = {
            name for (name,) in self.connection.execute("SELECT name FROM pragma_table_info(?)", [table])
        }
        columns = [name for name in values if name in known]
        marks = ", ".join("?" * len(columns))
        self.connection.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", [values[name] for name in columns]
        )
