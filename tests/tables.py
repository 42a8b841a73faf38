"""Dumps the rows of all tables, to compare them before and after."""

from typing import Any

from django.apps import apps
from django.db import connection

from ctxhub.core.models import Project

Dump = dict[str, list[tuple[Any, ...]]]


def dump_all() -> Dump:
    """All tables of the database, including those without a model."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        return {table: _rows(cursor, f"SELECT * FROM {table}") for table in tables}


def dump_project(project: Project) -> Dump:
    """The rows that belong to one project."""
    owned = [model for model in apps.get_models() if any(f.name == "project" for f in model._meta.fields)]
    assert len(owned) >= 10
    with connection.cursor() as cursor:
        return {
            model._meta.db_table: _rows(
                cursor, f"SELECT * FROM {model._meta.db_table} WHERE project_id = {project.pk}"
            )
            for model in owned
        }


def dump_written(project: Project) -> Dump:
    """The rows of a project without its tokens, whose last use changes with every call."""
    return {table: rows for table, rows in dump_project(project).items() if table != "core_accesstoken"}


def _rows(cursor: Any, statement: str) -> list[tuple[Any, ...]]:
    cursor.execute(statement)
    return sorted(cursor.fetchall(), key=repr)
