from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ctxhub.connect.archive import NAME, NoClient, client_archive


class Command(BaseCommand):
    help = "Write the client that the hub serves at /connect/ into a file, and print its version and digest."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--output", default=NAME, metavar="FILE", help=f"default: {NAME}")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            archive = client_archive()
            Path(options["output"]).write_bytes(archive.content)
        except (NoClient, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{archive.sha256}  {options['output']}\nVersion {archive.version}.")
