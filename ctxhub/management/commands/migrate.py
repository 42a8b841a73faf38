from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections

from ctxhub.core.kit.sqlite_file import close_to_others, make_file


class Command(migrate.Command):
    """Django's migrate; also creates the SQLite file, which nothing else does."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        # Before the checks of the models, which ask the database what it can do.
        _make_file(options["database"])
        return super().execute(*args, **options)


def _make_file(database: str) -> None:
    connection = connections[database]
    if connection.vendor == "sqlite":
        file = Path(connection.settings_dict["NAME"])
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            make_file(file)
            close_to_others(file)
        except OSError as error:
            raise CommandError(
                f"{file} cannot be made: {error.strerror}. DATABASE_URL or CTXHUB_VAR_DIR says where."
            ) from error
