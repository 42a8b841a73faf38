from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import connection

from ctxhub.core.events.cleanup import cleanup, in_words
from ctxhub.core.models import Project
from ctxhub.core.transfer.importing import end_cut_off
from ctxhub.management.projects import find_project
from ctxhub.management.refusals import as_command_errors, refuse_unmigrated


class Command(BaseCommand):
    help = "Remove what has outlived the projects' settings; a running hub does it by itself."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", help="Only this one, by its slug.")
        parser.add_argument("--vacuum", action="store_true", help="Give freed space back to the disk.")

    def handle(self, *args: Any, **options: Any) -> None:
        slug = options["project"]
        with as_command_errors():
            refuse_unmigrated()
            for project in [find_project(slug)] if slug else Project.objects.all():
                gone = cleanup(project.pk)
                self.stdout.write(f"{project.slug}: removed {in_words(gone) or 'nothing'}.")
            for done in end_cut_off():
                self.stdout.write(done)
            if options["vacuum"]:
                self._vacuum()

    def _vacuum(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM")
        self.stdout.write("Vacuumed.")
