"""The manifest of a backup: what is in it, of which hub, and by what it is checked."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

FORMAT = 1
"""Of the archive. A newer one is refused, each older one is read for ever."""
KEY = "secret_key"
DATABASES = {"sqlite": "database.sqlite3.gz", "postgresql": "database.dump"}
"""The member with the database, by engine: a SQLite file, or a dump in the custom format of pg_dump."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


class BadBackup(Exception):
    """The file is no backup that can be restored; the message says why."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file in the archive. `unpacked_bytes`: of what it is when it is not compressed."""

    bytes: int
    sha256: str
    unpacked_bytes: int

    def __post_init__(self) -> None:
        sizes = (self.bytes, self.unpacked_bytes)
        if not all(type(size) is int and size >= 0 for size in sizes) or not _SHA256.fullmatch(self.sha256):
            raise ValueError("member")


@dataclass(frozen=True, slots=True)
class Manifest:
    """`hub` is the hub's id, `key` the mark of its secret key, `migrations` are written `core.0001_initial`.

    `tables` has the number of rows of each; `server` and `schema` are those of PostgreSQL, else "".
    """

    version: str
    engine: str
    hub: str
    created_at: datetime
    key: str
    fallback_keys: int
    migrations: tuple[str, ...]
    tables: Mapping[str, int]
    members: Mapping[str, Member]
    server: str = ""
    schema: str = ""
    format: int = field(default=FORMAT)

    @property
    def database(self) -> str:
        """The name of the member with the database."""
        return DATABASES[self.engine]

    @property
    def rows(self) -> int:
        return sum(self.tables.values())

    def to_json(self) -> bytes:
        values = {"ctxhub_backup": self.format, **asdict(self), "created_at": self.created_at.isoformat()}
        del values["format"]
        return json.dumps(values, indent=1, ensure_ascii=False).encode()


def read_manifest(content: bytes) -> Manifest:
    """Raises BadBackup."""
    try:
        values = json.loads(content)
        number = values["ctxhub_backup"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadBackup("its manifest is none of a hub's") from error
    if isinstance(number, int) and number > FORMAT:
        made_by = str(values.get("version"))[:40]
        raise BadBackup(
            f"it has format {number}, which ctxhub {made_by} wrote; this version reads up to {FORMAT}. "
            "Update the code (git pull)"
        )
    try:
        return _checked(values)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadBackup(f"its manifest is damaged ({error})") from error


def _checked(values: dict[str, Any]) -> Manifest:
    engine = values["engine"]
    if engine not in DATABASES:
        raise ValueError("engine")
    members = {name: Member(**given) for name, given in values["members"].items()}
    if [*members] != [KEY, DATABASES[engine]] or members[KEY].unpacked_bytes != members[KEY].bytes:
        raise ValueError("members")
    tables = values["tables"]
    if not all(isinstance(name, str) and type(rows) is int and rows >= 0 for name, rows in tables.items()):
        raise ValueError("tables")
    created_at = datetime.fromisoformat(values["created_at"])
    return Manifest(
        **{name: _text(values, name) for name in ("version", "engine", "hub", "key", "server", "schema")},
        created_at=created_at if created_at.tzinfo else created_at.replace(tzinfo=UTC),
        fallback_keys=int(values["fallback_keys"]),
        migrations=tuple(str(name) for name in values["migrations"]),
        tables=tables,
        members=members,
        format=int(values["ctxhub_backup"]),
    )


def _text(values: dict[str, Any], name: str) -> str:
    if not isinstance(values[name], str) or len(values[name]) > 200:
        raise ValueError(name)
    return str(values[name])
