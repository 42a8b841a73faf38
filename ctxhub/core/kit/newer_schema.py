"""Tells that the tables of the database are those of another version than this process.

With those of a newer one it reads on, as new tables rarely change what the old ones say, but writes no more:
it would leave out what newer code relies on. With those of an older one it does nothing: what it asks for may
not be there.
"""

import logging
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db import Error, OperationalError, connection

from ctxhub.core.kit import restored
from ctxhub.core.kit.replaced_file import Replaced, when_replaced

SECONDS_BETWEEN_LOOKS = 20.0
Migration = tuple[str, str]
"""App and name."""

_RETIRED = {
    "core": (
        *("0001_initial", "0002_category_tally_config", "0003_seed_categories", "0004_search"),
        *("0005_stored_answer_digest", "0006_index_again", "0007_smaller_index", "0008_path_patterns"),
        *("0009_stale_cursor", "0010_sign_in_failures"),
    ),
    "memory": (
        *("0001_initial", "0002_tally_decisions", "0003_constraints", "0004_templates"),
        *("0005_decision_prefix", "0006_scratchpads", "0007_memories", "0008_snapshots"),
        *("0009_memory_revisions", "0010_path_patterns"),
    ),
    "tracking": ("0001_files_and_leases", "0002_resource_content", "0003_resource_types"),
    "agent_sessions": ("0001_sessions", "0002_lists_count_from_indexes", "0003_briefings"),
}
RETIRED = frozenset((app, name) for app, names in _RETIRED.items() for name in names)
"""Migrations of earlier versions whose files are gone. Most databases have them applied."""

logger = logging.getLogger(__name__)


class NewerSchema(OperationalError):
    """This process must not write: a newer version has migrated the database."""


class OlderSchema(OperationalError):
    """This process does nothing: the database lacks migrations, as one does that was restored."""


class _Known:
    """What this process knew when it started: later the files may be those of a newer version."""

    def __init__(self) -> None:
        self.names: frozenset[Migration] = frozenset()
        self.apps: tuple[str, ...] = ()
        self.unknown: tuple[str, ...] = ()
        self.lacking: tuple[str, ...] = ()
        self.is_to_look = False
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
    return _unknown(_applied())


def find_lacking_migrations() -> tuple[str, ...]:
    """Those of this code that are not applied, as `core.0014_invitations`, in order."""
    return _lacking(_applied())


def _applied() -> set[Migration]:
    marks = ", ".join(["%s"] * len(_known.apps))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT app, name FROM django_migrations WHERE app IN ({marks})", _known.apps)
        return set(cursor.fetchall())


def _unknown(applied: set[Migration]) -> tuple[str, ...]:
    return _in_words(applied - _known.names - RETIRED)


def _lacking(applied: set[Migration]) -> tuple[str, ...]:
    return _in_words(_known.names - applied)


def is_too_old(applied: Collection[Migration]) -> bool:
    """Whether retired migrations made the tables of an app, and the one in their place is not applied."""
    made = {app for app, _ in RETIRED.intersection(applied)}
    return any((app, min(name for of, name in _known.names if of == app)) not in applied for app in made)


def find_too_old() -> bool:
    """Whether the database is of a version that this one cannot upgrade."""
    return is_too_old(_applied())


def _in_words(migrations: Iterable[Migration]) -> tuple[str, ...]:
    return tuple(sorted(f"{app}.{name}" for app, name in migrations))


# -- While the process runs ------------------------------------------------------------------------


def look() -> None:
    """Look of which version the database is, and whether it was restored: two queries, outside of any call.

    Raises only Replaced, as `restored.look` does.
    """
    restored.look()
    _known.looked_at, _known.is_to_look = time.monotonic(), False
    try:
        applied = _applied()
        unknown, lacking = _unknown(applied), _lacking(applied)
    except Error:  # What follows tells what is wrong.
        logger.debug("The migrations of the database cannot be read.", exc_info=True)
        return
    if unknown and not _known.unknown:
        logger.error("Restart this process: a newer version has applied %s.", ", ".join(unknown))
    if lacking and not _known.lacking:
        logger.error("Run `manage.py setup`: the database lacks %s.", ", ".join(lacking))
    _known.unknown, _known.lacking = unknown, lacking


@when_replaced.append
def look_soon() -> None:
    """Look before the next call."""
    _known.is_to_look = True


def look_if_due() -> None:
    """Look, if the last time was a while ago, or for the end of what stops every call."""
    if _known.is_to_look or _known.lacking or time.monotonic() - _known.looked_at >= SECONDS_BETWEEN_LOOKS:
        with suppress(Replaced):  # Nothing was asked yet.
            look()


def is_newer() -> bool:
    """Whether the database was newer than this process when it was last looked at."""
    return bool(_known.unknown)


def unknown_migrations() -> tuple[str, ...]:
    """Those found when it was last looked at."""
    return _known.unknown


def lacking_migrations() -> tuple[str, ...]:
    """Those found when it was last looked at."""
    return _known.lacking


def refuse_older_schema() -> None:
    """Raise OlderSchema for any call, if the database lacks migrations. Costs no query while all is well.

    Raises OtherKey, too: the two are told before anything else.
    """
    restored.refuse_other_key()
    if _known.is_to_look or _known.lacking:
        look()
    if _known.lacking:
        raise OlderSchema(f"the database lacks {', '.join(_known.lacking)}")


def refuse_newer_schema() -> None:
    """Raise NewerSchema before a write, if the database is known to be newer. Costs no query."""
    if _known.unknown:
        raise NewerSchema(f"a newer version has applied {', '.join(_known.unknown)}")
