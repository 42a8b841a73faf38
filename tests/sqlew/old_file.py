"""A database of sqlew for tests: rows given by name, in the tables and columns of the chosen version."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ctxhub.core.kit import clock
from ctxhub.importers.sqlew.database import NAMING
from tests.sqlew.schemas import LAYERS, PREFIXES, SCHEMAS

# Columns that versions name differently: the first of these names that a table has is used.
OTHERWISE = {
    "key": ("key", "key_name"),
    "active": ("active", "is_active"),
    "decision_key_id": ("decision_key_id", "decision_id"),
}


class OldFile:
    """Times are datetimes; values for which a version has no column are left out."""

    def __init__(self, path: Path, version: int = 2) -> None:
        self.path = path
        self.version = version
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA synchronous = OFF")
        self.connection.executescript(SCHEMAS[version])
        for layer in LAYERS[version]:
            self.insert("layers", name=layer)
        if version >= 4:
            self.insert("projects", name="main")

    def close(self) -> Path:
        self.connection.close()
        return self.path

    def decision(
        self,
        key: str,
        value: Any = "v",
        *,
        agent: str | None = "ada",
        layer: str | None = None,
        version: str | None = "1.0.0",
        status: int | None = 1,
        at: datetime | None = None,
        tags: Sequence[str] = (),
        scopes: Sequence[str] = (),
        project: int = 1,
    ) -> int:
        """Insert a text or a number, each in its own table; return the id of its key."""
        table = "decisions" if isinstance(value, str | bytes) else "decisions_numeric"
        key_id = self.name_id("context_keys", key, "key")
        row_id = self.insert(
            table,
            key_id=key_id,
            project_id=project,
            value=value,
            agent_id=self.agent(agent),
            layer_id=self.name_id("layers", layer) if layer else None,
            version=version,
            status=status,
            ts=_seconds(at),
        )
        linked = row_id if self.version == 1 else key_id
        for name, words in (("tag", tags), ("scope", scopes)):
            for word in words:
                self.insert(
                    f"decision_{name}s",
                    decision_key_id=linked,
                    project_id=project,
                    **{f"{name}_id": self.name_id(f"{name}s", word, project_id=project)},
                )
        return key_id

    def past(
        self, key: str, value: str, *, version: str = "1.0.0", agent: str = "ada", at: datetime | None = None
    ) -> None:
        self.insert(
            "decision_history",
            key_id=self.name_id("context_keys", key, "key"),
            project_id=1,
            version=version,
            value=value,
            agent_id=self.agent(agent),
            ts=_seconds(at),
        )

    def why(self, key: str, rationale: str, alternatives: Any = None, tradeoffs: Any = None) -> None:
        self.insert(
            "decision_context",
            decision_key_id=self.name_id("context_keys", key, "key"),
            project_id=1,
            rationale=rationale,
            alternatives_considered=None if alternatives is None else json.dumps(alternatives),
            tradeoffs=None if tradeoffs is None else json.dumps(tradeoffs),
        )

    def constraint(
        self,
        text: str,
        *,
        category: str = "security",
        agent: str | None = "ada",
        layer: str | None = None,
        tags: Sequence[str] = (),
        at: datetime | None = None,
        **columns: Any,
    ) -> None:
        row_id = self.insert(
            "constraints",
            category_id=self.name_id("constraint_categories", category),
            project_id=1,
            constraint_text=text,
            created_by=self.agent(agent),
            layer_id=self.name_id("layers", layer) if layer else None,
            ts=_seconds(at),
            **columns,
        )
        for tag in tags:
            self.insert("constraint_tags", constraint_id=row_id, tag_id=self.name_id("tags", tag))

    def message(
        self,
        text: str | None = None,
        *,
        sender: str = "ada",
        to: str | None = None,
        type: int = 4,
        at: datetime | None = None,
        **columns: Any,
    ) -> None:
        self.insert(
            "agent_messages",
            from_agent_id=self.agent(sender),
            to_agent_id=self.agent(to),
            msg_type=type,
            ts=_seconds(at),
            **({} if text is None else {"message": text}),
            **columns,
        )

    def change(
        self,
        path: str = "src/app.py",
        change: int = 2,
        *,
        agent: str = "ada",
        layer: str | None = None,
        at: datetime | None = None,
        **columns: Any,
    ) -> None:
        self.insert(
            "file_changes",
            file_id=self.name_id("files", path, "path"),
            project_id=1,
            agent_id=self.agent(agent),
            layer_id=self.name_id("layers", layer) if layer else None,
            change_type=change,
            ts=_seconds(at),
            **columns,
        )

    def agent(self, name: str | None) -> int | None:
        return None if name is None or self.version > 3 else self.name_id("agents", name)

    def name_id(self, table: str, name: str, column: str = "name", **others: Any) -> int:
        """The id of a name; inserts the row if the name is new."""
        real = self._column(table, column)
        found = self.connection.execute(f"SELECT id FROM {self._table(table)} WHERE {real} = ?", [name])
        row = found.fetchone()
        return int(row[0]) if row else self.insert(table, **{column: name}, **others)

    def insert(self, table: str, **values: Any) -> int:
        known = {self._column(table, name): value for name, value in values.items()}
        columns = [name for name in known if name in self._columns(table)]
        marks = ", ".join("?" * len(columns))
        quoted = ", ".join(f'"{name}"' for name in columns)
        done = self.connection.execute(
            f"INSERT INTO {self._table(table)} ({quoted}) VALUES ({marks})", [known[name] for name in columns]
        )
        assert done.lastrowid
        return done.lastrowid

    def _table(self, name: str) -> str:
        naming, others = PREFIXES[self.version]
        return f"{naming if name in NAMING else others}{name}"

    def _columns(self, table: str) -> list[str]:
        found = self.connection.execute("SELECT name FROM pragma_table_info(?)", [self._table(table)])
        return [name for (name,) in found]

    def _column(self, table: str, name: str) -> str:
        return next((n for n in OTHERWISE.get(name, (name,)) if n in self._columns(table)), name)


def _seconds(at: datetime | None) -> int:
    return int((at or clock.now()).timestamp())
