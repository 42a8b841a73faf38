"""Query plans, for tests that a query uses an index."""

import re

from django.db import connection, models

from tests.databases import take_statistics


def start_compact(*tables: type[models.Model]) -> None:
    """Free the space of rows that earlier tests rolled back: PostgreSQL counts it in the cost of a plan.

    Called before a test writes to the tables.
    """
    if connection.vendor == "postgresql":
        names = ", ".join(model._meta.db_table for model in tables)
        with connection.cursor() as cursor:
            cursor.execute(f"TRUNCATE {names} CASCADE")


def plan_by_indexes() -> None:
    """Plan for the present rows, and prefer index scans, for the rest of the test."""
    take_statistics()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute("SET LOCAL enable_bitmapscan = off")


def explained(statement: str) -> str:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("EXPLAIN " + statement.replace("%", "%%"))
            return "\n".join(line for (line,) in cursor.fetchall())
        cursor.execute("EXPLAIN QUERY PLAN " + statement.replace("%", "%%"))
        return "\n".join(f"{parent}: {detail}" for _, parent, _, detail in cursor.fetchall())


def sorts_inside(plan: str) -> bool:
    """Whether rows are sorted before the page is limited; sorting the few rows of the page is allowed.

    A page of several branches is the union of their first rows, which newer versions of SQLite sort by id:
    each branch has its limit inside, so what is sorted there is a page, too.
    """
    if connection.vendor == "postgresql":
        page = re.search(r"^( *)CTE page\n((?:\1 .*\n)+)", plan, re.MULTILINE)
        assert page
        # An incremental sort sorts only rows with the same key, which is unique.
        return bool(re.search(r"(?<!Incremental )Sort +\(cost", page[2]))
    read: dict[str, list[str]] = {}
    for parent, _, detail in (line.partition(": ") for line in plan.splitlines()):
        if detail.startswith(("SCAN", "SEARCH")):
            read.setdefault(parent, []).append(detail)
    sorting = re.findall(r"^([1-9]\d*): USE TEMP B-TREE FOR ORDER BY", plan, re.MULTILINE)
    # The relationships of one row are few.
    small = ("SCAN branch", "SEARCH r USING")
    return any(not "".join(read.get(parent, [])).startswith(small) for parent in sorting)
