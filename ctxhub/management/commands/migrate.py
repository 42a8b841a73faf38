from typing import Any

from django.core.management.commands import migrate

from ctxhub.management.database import (
    alone,
    check_database,
    make_database,
    mark_database,
)
from ctxhub.management.questions import asker
from ctxhub.management.refusals import as_command_errors, refuse_unreachable


class Command(migrate.Command):
    """Django's migrate; also creates the SQLite file, which nothing else does."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        # Before the checks of the models, which ask the database what it can do.
        ask = asker(may_ask=options["interactive"])
        with as_command_errors():
            refuse_unreachable()
            make_database(fills_empty=check_database(ask=ask))
            with alone(self.stderr.write):
                mark_database()
                return super().execute(*args, **options)
