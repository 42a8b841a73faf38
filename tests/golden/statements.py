"""SQL statements in short form: kind, tables and written columns of each statement, in order."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db import connection

Statements = list[str]

# Longer statements are written once.
AT_MOST = 60

_NAME = r"[a-z_][a-z0-9_]*"
_TABLES = re.compile(rf"\b(?:FROM|JOIN|UPDATE|INTO)\s+(?:ONLY\s+)?({_NAME})\b")
_COMMON = re.compile(
    rf"\b({_NAME})(?:\([^()]*\))?\s+AS\s+(?:NOT\s+)?(?:MATERIALIZED\s+)?\(\s*(?:SELECT|INSERT|UPDATE|DELETE|VALUES|WITH)"
)
_INSERT = re.compile(rf"INSERT INTO ({_NAME})(?: AS {_NAME})?\s*\(([^()]*)\)")
_UPDATE = re.compile(rf"UPDATE ({_NAME})(?: AS {_NAME}| {_NAME})? SET (.*)")
_DELETE = re.compile(rf"DELETE FROM ({_NAME})")
_SET = re.compile(rf"(?:^|, )({_NAME}) = ")
_NO_TABLES = ("json_each", "unnest", "jsonb_array_elements_text")
_QUOTED = re.compile(r"'[^']*'")
_FUNCTION = re.compile(rf"^SELECT ({_NAME})\(")


@contextmanager
def captured() -> Iterator[Statements]:
    """The statements that are executed in the block."""
    found: Statements = []

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        found.append(shortened(sql))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield found


def as_text(statements_by_title: Mapping[str, Statements]) -> str:
    """The statements under each title; long statements are listed first and referred to by name."""
    names: dict[str, str] = {}
    lines: list[str] = []
    for title, statements in statements_by_title.items():
        lines.append(f"{title} ({len(statements)})")
        lines += [f"  {_name(statement, names)}" for statement in statements]
    long = [f"{name}: {statement}" for statement, name in names.items() if name != statement]
    return "\n".join([*sorted(long), "", *lines, ""])


def _name(statement: str, names: dict[str, str]) -> str:
    """Kind and first table of a long statement, with a number if that is not unique."""
    if statement not in names:
        start = re.split(r" \(| \+", statement)[0]
        number = sum(1 for name in names.values() if name.split(" #")[0] == start) + 1
        is_short = len(statement) <= AT_MOST
        names[statement] = statement if is_short else f"{start} #{number}" if number > 1 else start
    return names[statement]


def shortened(statement: str) -> str:
    """`UPDATE memory_constraint (rank, text)`, `SELECT core_tag + core_layer`, `SAVEPOINT`, `SET; ...`."""
    plain = _QUOTED.sub("?", " ".join(statement.replace('"', "").split()))
    verb = plain.split(" ", 1)[0]
    if verb == "SET":  # Sent together with what follows.
        return f"SET; {shortened(plain.partition('; ')[2])}"
    if verb in ("SAVEPOINT", "RELEASE", "ROLLBACK"):
        return " ".join(word for word in plain.split(" ") if word.isupper())
    if verb == "INSERT":
        return _insert(plain)
    if verb == "UPDATE":
        return _update(plain)
    if verb == "DELETE":
        return f"DELETE {_tables(plain)}"
    return _select(plain)


def _insert(plain: str) -> str:
    match = _INSERT.match(plain)
    assert match, plain
    rest = plain[match.end() :]
    _, found, conflict = rest.partition("ON CONFLICT")
    columns = conflict.partition("DO UPDATE SET ")[2].partition(" RETURNING ")[0]
    then = f" on conflict update ({_set(columns)})" if columns else " on conflict nothing" if found else ""
    read = _tables(rest) if "SELECT" in rest.partition("ON CONFLICT")[0] else ""
    source = f" from {read}" if read else ""
    written = ", ".join(sorted(match[2].split(", ")))
    return f"INSERT {match[1]} ({written}){source}{then}{_returning(plain)}"


def _update(plain: str) -> str:
    match = _UPDATE.match(plain)
    assert match, plain
    rest = _outside(match[2])
    columns = re.split(r" (?:FROM|WHERE) ", rest)[0]
    others = [table for table in _found(plain) if table != match[1]]
    source = f" from {' + '.join(others)}" if others else ""
    return f"UPDATE {match[1]} ({_set(columns)}){source}{_returning(plain)}"


def _select(plain: str) -> str:
    if not (tables := _tables(plain)):
        function = _FUNCTION.match(plain)
        return f"SELECT {function[1]}()" if function else plain
    verbs = [
        verb for verb in ("INSERT", "UPDATE", "DELETE") if re.search(rf"\b{verb} (INTO|FROM|{_NAME})", plain)
    ]
    lock = " for update" if re.search(r"\bFOR (NO KEY )?UPDATE\b", plain) else ""
    return " ".join([*(verbs or ["SELECT"]), tables]) + lock


def _returning(plain: str) -> str:
    return f" returning {plain.rpartition(' RETURNING ')[2]}" if " RETURNING " in plain else ""


def _set(columns: str) -> str:
    return ", ".join(sorted(_SET.findall(_outside(columns))))


def _outside(text: str) -> str:
    """The text without its parts in parentheses."""
    found, depth = [], 0
    for character in text:
        depth += character == "("
        if depth == 0:
            found.append(character)
        depth -= character == ")"
    return "".join(found)


def _tables(plain: str) -> str:
    return " + ".join(_found(plain))


def _found(plain: str) -> list[str]:
    """Every table once: first the one outside all parentheses, then the others by name."""
    tables = _named(plain)
    first = [table for table in _TABLES.findall(_outside(plain)) if table in tables] or tables
    return [*first[:1], *sorted(set(tables) - {*first[:1]})]


def _named(plain: str) -> list[str]:
    """Tables in the order of the text, without names of common table expressions."""
    own = {*_COMMON.findall(plain), *_NO_TABLES}
    return [table for table in _TABLES.findall(plain) if table not in own]
