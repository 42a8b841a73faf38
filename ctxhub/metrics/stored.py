"""What the database holds, read when metrics are asked for: its bytes, and the rows of each noun."""

import os
from collections.abc import Iterator
from contextlib import suppress
from threading import Lock
from time import monotonic

from django.db import DatabaseError, connection
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from ctxhub.core.hub.stored import stored_beside
from ctxhub.core.kit import sql
from ctxhub.core.registry import Noun, all_nouns

KEPT_SECONDS = 60.0
BYTES = "ctxhub_db_bytes"
ROWS = "ctxhub_rows"


class Stored(Collector):
    """Tells nothing while the database does not answer: what the processes count is told all the same."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._rows: dict[str, int] = {}
        self._read_at = -KEPT_SECONDS

    def collect(self) -> Iterator[Metric]:
        with suppress(DatabaseError, OSError):
            size = GaugeMetricFamily(BYTES, "Bytes of the database.", value=_bytes())
            rows = GaugeMetricFamily(ROWS, "Rows of each noun, up to a minute old.", labels=["noun"])
            for noun, count in self._counted().items():
                rows.add_metric([noun], count)
            yield size
            yield rows

    def _counted(self) -> dict[str, int]:
        """By kind. Kept for a minute: nouns without counters are counted row by row."""
        with self._lock:
            if monotonic() - self._read_at >= KEPT_SECONDS:
                self._rows, self._read_at = _count_rows(), monotonic()
            return self._rows


def _bytes() -> int:
    """On SQLite with its log, which is a file of its own."""
    if connection.vendor == "postgresql":
        [(size,)] = sql.rows("SELECT pg_database_size(current_database())")
        return int(size)
    name = str(connection.settings_dict["NAME"])
    log = f"{name}-wal"
    return os.path.getsize(name) + (os.path.getsize(log) if os.path.exists(log) else 0)


def _count_rows() -> dict[str, int]:
    counted = [noun.kind for noun in all_nouns() if _has_counters(noun)]
    others = {noun.kind: noun.model._meta.db_table for noun in all_nouns() if not _has_counters(noun)}
    others |= {title.removesuffix("s"): model._meta.db_table for title, model in stored_beside}
    branches = [
        f"SELECT noun, sum(count) FROM core_tally WHERE noun IN ({sql.marks(counted)}) GROUP BY noun",
        *(f"SELECT '{kind}', count(*) FROM {table}" for kind, table in others.items()),
    ]
    found = sql.rows(" UNION ALL ".join(branches), counted)
    return {**dict.fromkeys(counted, 0), **{kind: int(count) for kind, count in found}}


def _has_counters(noun: Noun) -> bool:
    return noun.history is not None and noun.history.is_counted
