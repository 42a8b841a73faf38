from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.db import connection

from ctxhub.core.accounts.people import find_clashes
from ctxhub.core.accounts.projects import create_project
from ctxhub.core.kit.base_url import base_url
from ctxhub.core.models import Project
from ctxhub.management import invisible_names
from ctxhub.management.database import alone, check_database, make_database, refuse_beside_others
from ctxhub.management.first_user import Signin, ensure_superuser
from ctxhub.management.questions import asker
from ctxhub.management.ready_lines import as_text, connect_here, http_lines, stdio_lines, variables
from ctxhub.management.refusals import as_command_errors, refuse_unreachable
from ctxhub.management.setup_token import ensure_token, kept_project, refuse_foreign_tokens
from ctxhub.management.static_root import collect_static_files, refuse_foreign_static_files
from ctxhub.management.unread_globs import find_unread_globs
from ctxhub.management.unread_variables import unread_variables

FIRST_PROJECT = "demo"
GLOBS_SHOWN = 20
CONNECT = "\nConnect the coding clients of this machine while the hub runs, in the folder of your own work:"
OVER_HTTP = "Or paste one of these there. For other machines the hub's page /connect/ shows one line."
FOR_HOOKS = "For hooks (docs/hooks.md), in your shell's profile; no CTXHUB_AGENT: each client's own name."
OVER_STDIO = "\nOr let clients on this machine start their own server (stdio), whether the hub runs or not."


class Command(BaseCommand):
    help = "Set everything up, and print the lines that connect your agents. Safe to repeat."
    requires_system_checks = ()
    stealth_options = ("opened_at",)  # The URL that `serve --setup` will use, for the ready lines.

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--project",
            help="The project to connect to, made if it is new; at first: demo, then the same again.",
        )
        parser.add_argument(
            "--no-input",
            action="store_true",
            help="Ask nothing: the admin gets a random password, shown once.",
        )
        parser.add_argument(
            "--beside-others", action="store_true", help="Migrate though other processes have the hub open."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        opened_at = options.get("opened_at", "")
        with as_command_errors():
            self._prepare(options)
            with alone(self.stderr.write):
                self._migrate(options)
                project = project_to_connect(options["project"])
                signin = ensure_superuser(ask=not options["no_input"])
                token = ensure_token(project)
                if apps.is_installed("django.contrib.staticfiles"):
                    collect_static_files()
        self.stdout.write(_welcome(project, signin, base_url(opened_at)))
        self.stdout.write(f"{CONNECT}\n{connect_here(project.slug, opened_at=opened_at)}")
        self.stdout.write(f"{OVER_HTTP}\n{as_text(http_lines(token, opened_at=opened_at))}")
        self.stdout.write(f"{FOR_HOOKS}\n{variables(token, opened_at=opened_at).line}")
        self.stdout.write(f"{OVER_STDIO}\n{as_text(stdio_lines(project.slug))}\n")
        self.tell_clashes()
        self.tell_unread_globs()
        self.tell_names()
        for sentence in unread_variables():
            self.stdout.write(f"Attention: {sentence}")

    def tell_clashes(self) -> None:
        """Print which agents have the name of a person."""
        for clash in find_clashes():
            self.stdout.write(f"Attention, project {clash.agent.project.slug}: {clash.sentence}")

    def tell_unread_globs(self) -> None:
        """Print which stored globs are not read as they were meant: the first of them, and how many more."""
        found = list(find_unread_globs())
        for sentence in found[:GLOBS_SHOWN]:
            self.stdout.write(f"Attention, {sentence}")
        if len(found) > GLOBS_SHOWN:
            self.stdout.write(
                f"Attention, {len(found) - GLOBS_SHOWN} more globs are not read as they were meant."
            )

    def tell_names(self) -> None:
        """Print how many stored names hold characters that nobody sees."""
        if sentence := invisible_names.summary():
            self.stdout.write(sentence)

    def _prepare(self, options: dict[str, Any]) -> None:
        """Make the files, once everything that is there already has been found to be the hub's."""
        refuse_unreachable()
        fills_empty = check_database(ask=asker(may_ask=not options["no_input"]))
        refuse_foreign_tokens()
        if apps.is_installed("django.contrib.staticfiles"):
            refuse_foreign_static_files()
        str(settings.SECRET_KEY)  # An invalid key is refused before anything is created.
        make_database(fills_empty=fills_empty)

    def _migrate(self, options: dict[str, Any]) -> None:
        if not options["beside_others"]:
            refuse_beside_others(ask=asker(may_ask=not options["no_input"]))
        call_command("migrate", verbosity=0, interactive=False, beside_others=True)


def project_to_connect(slug: str | None) -> Project:
    """The project named; else the one set up last; else the first; else a new one."""
    if slug is None:
        found = kept_project() or Project.objects.order_by("pk").first()
        return found or create_project(slug=FIRST_PROJECT)
    return Project.objects.filter(slug=slug).first() or create_project(slug=slug)


def _welcome(project: Project, signin: Signin, url: str) -> str:
    database = connection.settings_dict
    location = f"{database['NAME']} on {database['HOST']}" if database["HOST"] else database["NAME"]
    password = f", password {signin.password} (shown this once)" if signin.password else ""
    return (
        f"ctxhub is set up: project {project.slug}, database {location}\n"
        f"Admin: {url}/admin/ as {signin.username}{password}"
    )
