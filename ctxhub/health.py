"""Liveness and readiness checks, for load balancers and people on call."""

import logging
import os
import shutil
from pathlib import Path

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from ctxhub.core.kit.failures import was_unwritable
from ctxhub.core.kit.newer_schema import look, unknown_migrations
from ctxhub.core.kit.restored import has_other_key
from ctxhub.core.kit.transactions import current_turn
from ctxhub.core.kit.write_queue import QUEUE, describe

FREE_BYTES = 16 * 1024 * 1024

logger = logging.getLogger(__name__)


@csrf_exempt
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@csrf_exempt
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 if the database answers, is migrated and can be written, else 503; and the result of each check."""
    checks: dict[str, bool | str] = dict.fromkeys(("database", "migrations", "writable", "writers"), False)
    checks["database"] = _database_answers()
    if checks["database"]:
        checks["migrations"] = _newer_schema() or _migrations_are_applied()
        checks["writable"] = not was_unwritable() and _has_room()
        checks["writers"] = _stuck_writer() or True
    ready = all(result is True for result in checks.values())
    return JsonResponse({"status": "ok" if ready else "not ready", **checks}, status=200 if ready else 503)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _stuck_writer() -> str:
    """Which process keeps the others from writing, and since when; empty if none does."""
    turn = current_turn()
    if turn is None or turn.seconds < QUEUE.most_seconds:
        return ""
    logger.error("Nobody can write: %s", describe(turn))
    return describe(turn)


def _newer_schema() -> str:
    """What a newer version has applied, if one has migrated the database; or that its key is another one."""
    look()
    if has_other_key():
        return "restart this process: the hub was restored with another secret key"
    unknown = ", ".join(unknown_migrations())
    return f"restart this process: a newer version has applied {unknown}" if unknown else ""


def _migrations_are_applied() -> bool:
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def _has_room() -> bool:
    """Whether SQLite's file and folder are writable with 16 MiB free, or PostgreSQL lets write."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SHOW transaction_read_only")
            return bool(cursor.fetchone() == ("off",))
    file = Path(connection.settings_dict["NAME"])
    is_writable = os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)
    return is_writable and shutil.disk_usage(file.parent).free >= FREE_BYTES
