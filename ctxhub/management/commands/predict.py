from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from ctxhub.core.models import Project
from ctxhub.core.text.plurals import counted
from ctxhub.management.projects import find_project
from ctxhub.management.refusals import as_command_errors, refuse_unmigrated
from memory.predictions.services import refresh_predictions


class Command(BaseCommand):
    help = "Predict which snapshots are read again soon, of all projects; run it every few hours."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", help="Only this one, by its slug.")
        parser.add_argument(
            "--stale-hours",
            type=int,
            default=24,
            metavar="N",
            help="Refresh predictions older than so many hours (24).",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        slug = options["project"]
        with as_command_errors():
            refuse_unmigrated()
            for project in [find_project(slug)] if slug else Project.objects.order_by("slug"):
                answer = refresh_predictions(project.pk, stale_hours=options["stale_hours"])
                self.stdout.write(f"{project.slug}: {counted(answer['refreshed'], 'predictions')} refreshed.")
