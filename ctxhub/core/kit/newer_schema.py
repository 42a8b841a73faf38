"""Tells that the database was migrated by a newer version, whose tables this process does not know.

It reads on, as new tables rarely change what the old ones say, but writes no more: it would leave out what
newer code relies on.
"""

import logging
import time
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db import Error, OperationalError, connection

SECONDS_BETWEEN_LOOKS = 20.0
RETIRED: frozenset[tuple[str, str]] = frozenset()
"""Migrations (app, name) of earlier versions whose files are gone, and that no other one replaces."""

logger = logging.getLogger(__name__)


class NewerSchema(OperationalError):
    """This process must not write: a newer version has migrated the database."""


class _Known:
    """What this process knew when it started: later the files may be those of a newer version."""

    def __init__(self) -> None:
        self.names: frozenset[tuple[str, str]] = frozenset()
        self.replaced: frozenset[tuple[str, str]] | None = None
        self.apps: tuple[str, ...] = ()
        self.unknown: tuple[str, ...] = ()
        self.looked_at = float("-inf")


_known = _Known()


def remember_migrations() -> None:
    """Note the names of the migrations that this code has. Called once, when the process starts."""
    packages = {
        config.label: f"{config.name}.migrations"
        for config in apps.get_app_configs()
        if config.name in settings.BASE_APPS and not config.name.startswith("django.")
    }
    names = {(label, name) for label, package in packages.items() for name in _names_in(package)}
    _known.names = frozenset(names)
    _known.apps = tuple(sorted({label for label, _ in names}))


def _names_in(package: str) -> Iterable[str]:
    try:
        folders = import_module(package).__path__
    except ModuleNotFoundError:
        return []
    return [file.stem for folder in folders for file in Path(folder).glob("[0-9]*.py")]


def find_unknown_migrations() -> tuple[str, ...]:
    """The applied migrations of ours that this code does not know, as `memory.0012_bin`, in order."""
    marks = ", ".join(["%s"] * len(_known.apps))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT app, name FROM django_migrations WHERE app IN ({marks})", _known.apps)
        applied = set(cursor.fetchall())
    unknown = applied - _known.names - RETIRED
    if unknown:
        unknown -= _replaced()
    return tuple(sorted(f"{app}.{name}" for app, name in unknown))


def _replaced() -> frozenset[tuple[str, str]]:
    """What the squashed migrations of this code replace. Read when it is needed: it imports all of them."""
    if _known.replaced is None:
        names = {config.label: config.name for config in apps.get_app_configs()}
        modules = (import_module(f"{names[app]}.migrations.{name}") for app, name in sorted(_known.names))
        replaced = (getattr(module.Migration, "replaces", ()) for module in modules)
        _known.replaced = frozenset((app, name) for of_one in replaced for app, name in of_one)
    return _known.replaced


# -- While the process runs ------------------------------------------------------------------------


def look() -> None:
    """Look whether the database is newer than this process: one query, outside of any call. Never fails."""
    _known.looked_at = time.monotonic()
    try:
        unknown = find_unknown_migrations()
    except Error:  # What follows tells what is wrong.
        logger.debug("The migrations of the database cannot be read.", exc_info=True)
        return
    if unknown and not _known.unknown:
        logger.error("Restart this process: a newer version has applied %s.", ", ".join(unknown))
    _known.unknown = unknown


def look_if_due() -> None:
    """Look, if the last time was a while ago."""
    if time.monotonic() - _known.looked_at >= SECONDS_BETWEEN_LOOKS:
        look()


def is_newer() -> bool:
    """Whether the database was newer than this process when it was last looked at."""
    return bool(_known.unknown)


def unknown_migrations() -> tuple[str, ...]:
    """Those found when it was last looked at."""
    return _known.unknown


def refuse_newer_schema() -> None:
    """Raise NewerSchema before a write, if the database is known to be newer. Costs no query."""
    if _known.unknown:
        raise NewerSchema(f"a newer version has applied {', '.join(_known.unknown)}")
