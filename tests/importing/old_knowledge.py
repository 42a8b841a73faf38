"""Databases of Free Context for tests."""

import json
import sqlite3
from pathlib import Path
from typing import Any

SCHEMA = """
    CREATE TABLE contexts (id TEXT PRIMARY KEY, name TEXT NOT NULL, description TEXT, tags TEXT, stack TEXT,
        difficulty TEXT, metadata TEXT, system_prompt TEXT, created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL);
    CREATE TABLE memories (id TEXT PRIMARY KEY, context_id TEXT NOT NULL, type TEXT NOT NULL,
        title TEXT NOT NULL, content TEXT NOT NULL, digest TEXT, stack TEXT, difficulty TEXT, metadata TEXT,
        created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
        FOREIGN KEY (context_id) REFERENCES contexts(id) ON DELETE CASCADE);
    CREATE TABLE relationships (id TEXT PRIMARY KEY, source_id TEXT NOT NULL, target_id TEXT NOT NULL,
        type TEXT NOT NULL, strength INTEGER DEFAULT 50, metadata TEXT, created_at INTEGER NOT NULL);
    CREATE TABLE events (id TEXT PRIMARY KEY, type TEXT);
    CREATE VIRTUAL TABLE memories_fts USING fts5(title, content);
"""
THEN = 1_760_184_000_000


class OldKnowledge:
    """Lists and objects are stored as JSON, times as milliseconds."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA synchronous = OFF")
        self.connection.executescript(SCHEMA)

    def close(self) -> Path:
        self.connection.close()
        return self.path

    def context(self, row_id: str = "c1", name: str = "React", at: Any = THEN, **values: Any) -> None:
        self.insert("contexts", id=row_id, name=name, **{"created_at": at, "updated_at": at, **values})

    def memory(
        self,
        row_id: str = "m1",
        title: Any = "Hooks",
        content: Any = "useState adds state to a component.",
        context: str = "c1",
        at: Any = THEN,
        **values: Any,
    ) -> None:
        times = {"created_at": at, "updated_at": at}
        self.insert(
            "memories",
            id=row_id,
            context_id=context,
            title=title,
            content=content,
            **{"type": "note", **times, **values},
        )

    def relationship(
        self, source: str, target: str, type: Any = "related", strength: Any = 50, **values: Any
    ) -> None:
        [(count,)] = self.connection.execute("SELECT count(*) FROM relationships")
        ends = {"source_id": source, "target_id": target, "type": type, "strength": strength}
        self.insert("relationships", id=f"r{count}", **{**ends, "created_at": THEN, **values})

    def insert(self, table: str, **values: Any) -> None:
        stored = [json.dumps(v) if isinstance(v, (dict, list)) else v for v in values.values()]
        marks = ", ".join("?" * len(values))
        self.connection.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", stored)
