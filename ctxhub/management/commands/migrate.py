from typing import Any

from django.core.management.base import CommandParser
from django.core.management.commands import migrate

from ctxhub.management import invisible_names
from ctxhub.management.database import (
    alone,
    check_database,
    make_database,
    mark_database,
    refuse_beside_others,
)
from ctxhub.management.new_database import Executor
from ctxhub.management.questions import asker
from ctxhub.management.refusals import as_command_errors, refuse_unreachable

# Django's command has no other place that says how it migrates.
migrate.MigrationExecutor = Executor  # type: ignore[attr-defined]


class Command(migrate.Command):
    """Django's migrate; also creates the SQLite file, which nothing else does."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--beside-others", action="store_true", help="Migrate though other processes have the hub open."
        )

    def execute(self, *args: Any, **options: Any) -> str | None:
        # Before the checks of the models, which ask the database what it can do.
        ask = asker(may_ask=options["interactive"])
        with as_command_errors():
            refuse_unreachable()
            make_database(fills_empty=check_database(ask=ask))
            with alone(self.stderr.write):
                if not (options["plan"] or options["check_unapplied"]):
                    if not options["beside_others"]:
                        refuse_beside_others(ask=ask)
                    mark_database()
                output: str | None = super().execute(*args, **options)
                self._tell_names(options)
                return output

    def _tell_names(self, options: dict[str, Any]) -> None:
        """Print how many stored names hold characters that nobody sees, once all tables are there."""
        only_looks = options["plan"] or options["check_unapplied"]
        if only_looks or options["app_label"] or not options["verbosity"]:
            return
        if sentence := invisible_names.summary():
            self.stdout.write(sentence)
