from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from ctxhub.mcp.offers.manual import render_offers
from ctxhub.toolbox.manual import render_manual


class Command(BaseCommand):
    help = "Write docs/mcp-tools.md from the code, or check with --check that it is up to date."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="Write nothing; fail if the file is not up to date."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        file = settings.BASE_DIR / "docs" / "mcp-tools.md"
        manual = f"{render_manual()}\n{render_offers()}"
        if not options["check"]:
            file.write_text(manual)
            self.stdout.write(f"Wrote {file.relative_to(settings.BASE_DIR)}.")
        elif not file.exists() or file.read_text() != manual:
            raise CommandError("docs/mcp-tools.md is not up to date: run manage.py document_tools.")
