"""The numbers that decisions hold and have held, each at the moment it was written."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.kit.inputs import NAME_LENGTH
from ctxhub.core.kit.pages import Condition
from memory.decisions.models.decision import typed_value

# What stands now comes after all that it was.
_LAST_PLACE = 2**63 - 1


class Measurement(NamedTuple):
    at: datetime
    value: int | float


def read_measurements(
    conditions: Sequence[Condition], when: Sequence[Condition], at_most: int
) -> list[Measurement]:
    """The newest first. `conditions` are on the decision `d`, `when` on the moment `m.at`.

    A revision that a change of something else left has the version of the one before it: its number was
    measured there, once.
    """
    where = " AND ".join(text for text, _ in conditions)
    moments = "".join(f" AND {text}" for text, _ in when)
    values = [value for _, given in (*conditions, *when) for value in given]
    found = sql.rows(
        f"""
        WITH chosen AS MATERIALIZED (
            SELECT d.id FROM memory_decision d WHERE {where}),
        states AS (
            SELECT r.decision_id, r.id AS place, r.version, r.value, r.value_type, r.at
            FROM chosen c CROSS JOIN memory_decisionrevision r
            WHERE r.decision_id = c.id AND r.number IS NOT NULL
            UNION ALL
            SELECT d.id, {_LAST_PLACE}, d.version, d.value, d.value_type, d.updated_at
            FROM chosen c CROSS JOIN memory_decision d WHERE d.id = c.id AND d.number IS NOT NULL),
        measured AS (
            SELECT s.*, lag(s.version) OVER (PARTITION BY s.decision_id ORDER BY s.place) AS before
            FROM states s)
        SELECT m.at, m.value, m.value_type FROM measured m
        WHERE (m.before IS NULL OR m.before <> m.version){moments}
        ORDER BY m.at DESC, m.decision_id DESC, m.place DESC LIMIT %s""",  # noqa: S608
        [*values, at_most],
    )
    return [Measurement(sql.read_time(at), _number(text, kind)) for at, text, kind in found]


def has_decisions(conditions: Sequence[Condition]) -> bool:
    where = " AND ".join(text for text, _ in conditions)
    statement = f"SELECT 1 FROM memory_decision d WHERE {where} LIMIT 1"  # noqa: S608
    return bool(sql.rows(statement, [value for _, given in conditions for value in given]))


def key_like(pattern: str) -> list[Condition]:
    """Keys that match a glob as a whole, `*` standing for anything; those of its beginning, by an index."""
    beginning = pattern.partition("*")[0]
    if beginning == pattern:
        return [("d.key = %s", [pattern])]
    if connection.vendor == "postgresql":
        escaped = pattern.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_").replace("*", "%")
        return [("d.key LIKE %s", [escaped])]  # memory_decision_by_prefix serves it.
    globbed = pattern.replace("[", "[[]").replace("?", "[?]")
    conditions: list[Condition] = [("d.key GLOB %s", [globbed])]
    if beginning:
        conditions += [("d.key >= %s", [beginning]), ("d.key < %s", [_behind(beginning)])]
    return conditions


def _behind(beginning: str) -> str:
    """A text greater than every key that begins so: it goes on with the last character there is."""
    return beginning + "\U0010ffff" * NAME_LENGTH


def _number(text: Any, kind: int) -> int | float:
    value = typed_value(text, kind)
    assert not isinstance(value, str)
    return value
