"""Reads the current and past numeric values of decisions, with the time each was written."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.kit.inputs import NAME_LENGTH
from ctxhub.core.kit.pages import Condition
from memory.decisions.inputs.decisions import plain_number
from memory.decisions.models.decision import typed_value

# Sorts the current value after all revisions.
_CURRENT_PLACE = 2**63 - 1
# Characters of a text that may be a number, with blanks around it.
_LONGEST_NUMBER = 400


class Measurement(NamedTuple):
    at: datetime
    value: int | float


class Measured(NamedTuple):
    """Numbers, newest first; `left_out` counts the values that are none."""

    numbers: list[Measurement]
    left_out: int


def read_measurements(conditions: Sequence[Condition], when: Sequence[Condition], at_most: int) -> Measured:
    """Return up to `at_most` values, the numbers before the others. A text that is a plain number is one.

    `conditions` filter the decision `d`, `when` the time `m.at`. A revision with the same version as the one
    before it records a change of another field: its value is counted once, at the first of them.
    """
    where = " AND ".join(text for text, _ in conditions)
    moments = "".join(f" AND {text}" for text, _ in when)
    parameters = [value for _, values in (*conditions, *when) for value in values]
    found = sql.rows(
        f"""
        WITH chosen AS MATERIALIZED (
            SELECT d.id FROM memory_decision d WHERE {where}),
        states AS (
            SELECT r.decision_id, r.id AS place, r.version, {_value("r")}, r.value_type, r.at
            FROM chosen c CROSS JOIN memory_decisionrevision r WHERE r.decision_id = c.id
            UNION ALL
            SELECT d.id, {_CURRENT_PLACE}, d.version, {_value("d")}, d.value_type, d.updated_at
            FROM chosen c CROSS JOIN memory_decision d WHERE d.id = c.id),
        measured AS (
            SELECT s.*, lag(s.version) OVER (PARTITION BY s.decision_id ORDER BY s.place) AS before
            FROM states s)
        SELECT m.at, m.value, m.value_type FROM measured m
        WHERE (m.before IS NULL OR m.before <> m.version){moments}
        ORDER BY m.value IS NULL, m.at DESC, m.decision_id DESC, m.place DESC LIMIT %s""",
        [*parameters, at_most],
    )
    numbers = [
        Measurement(sql.read_time(at), number)
        for at, text, kind in found
        if text is not None and (number := _number(text, kind)) is not None
    ]
    return Measured(numbers, len(found) - len(numbers))


def _value(row: str) -> str:
    """The value of a row as `value`; NULL for what is surely no number, so that no long text is read."""
    has_digit = f"{row}.value GLOB '*[0-9]*'" if connection.vendor == "sqlite" else f"{row}.value ~ '[0-9]'"
    may_be_one = f"{row}.number IS NOT NULL OR (length({row}.value) <= {_LONGEST_NUMBER} AND {has_digit})"
    return f"CASE WHEN {may_be_one} THEN {row}.value END AS value"


def has_decisions(conditions: Sequence[Condition]) -> bool:
    where = " AND ".join(text for text, _ in conditions)
    statement = f"SELECT 1 FROM memory_decision d WHERE {where} LIMIT 1"
    return bool(sql.rows(statement, [value for _, values in conditions for value in values]))


def key_like(pattern: str) -> list[Condition]:
    """Return conditions for keys that match a glob (`*`: any text). Its literal prefix uses an index."""
    prefix = pattern.partition("*")[0]
    if prefix == pattern:
        return [("d.key = %s", [pattern])]
    if connection.vendor == "postgresql":
        escaped = pattern.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_").replace("*", "%")
        return [("d.key LIKE %s", [escaped])]  # Served by the index memory_decision_by_prefix.
    globbed = pattern.replace("[", "[[]").replace("?", "[?]")
    conditions: list[Condition] = [("d.key GLOB %s", [globbed])]
    if prefix:
        conditions += [("d.key >= %s", [prefix]), ("d.key < %s", [_prefix_end(prefix)])]
    return conditions


def _prefix_end(prefix: str) -> str:
    """Return a text greater than every key with the prefix, padded with the last Unicode character."""
    return prefix + "\U0010ffff" * NAME_LENGTH


def _number(text: Any, kind: int) -> int | float | None:
    value = typed_value(text, kind)
    return plain_number(value) if isinstance(value, str) else value
