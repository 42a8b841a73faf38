"""Connects the coding clients of the hub's own machine, without a browser: whoever runs it owns the hub."""

import importlib
import platform
import sys
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ctxhub.connect.archive import FOLDER
from ctxhub.core.accounts.access_tokens import Origin, create_token
from ctxhub.core.accounts.own_tokens import LASTS
from ctxhub.core.enrolment.deciding import short_name
from ctxhub.core.kit import clock
from ctxhub.core.kit.base_url import base_url
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.models import Project
from ctxhub.management.projects import find_project

FLAGS = ("user", "http", "no-hooks", "no-rules", "dry-run")


class Command(BaseCommand):
    help = "Connect the coding clients of this machine with the hub, in the folder in which it is run."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", help="The project's slug; may be left out where there is only one.")
        parser.add_argument("--hub", default="", help="The hub's address; left out: CTXHUB_BASE_URL.")
        parser.add_argument("--client", action="append", default=[], help="Left out: those that are here.")
        parser.add_argument("--agent", default="", help="Left out: claude, codex and so on.")
        parser.add_argument("--user", action="store_true", help="For all folders of this user.")
        parser.add_argument("--http", action="store_true", help="The hub's address, not the program.")
        parser.add_argument("--no-hooks", action="store_true")
        parser.add_argument("--no-rules", action="store_true")
        parser.add_argument("--dry-run", action="store_true", help="Say what would be written.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            project = find_project(options["project"])
        except CtxhubError as error:
            raise CommandError(f"{error.message} {error.hint}".strip()) from error
        if not (FOLDER / "__main__.py").is_file():
            raise CommandError(f"The sources of the client are not at {FOLDER}.")
        sys.path.insert(0, str(FOLDER.parent))
        command = importlib.import_module("ctxhub_client.access.command")
        program = importlib.import_module("ctxhub_client.install.program").Program()
        if options["dry_run"]:
            program.will_unpack()
        else:
            self.stdout.write(program.unpack())
        arguments = [options["hub"] or base_url(""), "--project", project.slug]
        arguments += [f"--{flag}" for flag in FLAGS if options[flag.replace("-", "_")]]
        for name in ("client", "agent"):
            given = options[name] if isinstance(options[name], list) else [options[name]]
            arguments += [word for value in given if value for word in (f"--{name}", value)]
        code = command.run_connect(arguments, obtain=_minted(project, options["agent"]), program=program)
        if code:
            raise CommandError("Not everything is connected: see above.", returncode=code)


def _minted(project: Project, agent: str) -> Any:
    """Makes tokens of the project, each pinned to the agent of its client."""
    credential = importlib.import_module("ctxhub_client.access.credentials").Credential

    def mint(hub: str, clients: Sequence[str]) -> list[Any]:
        made = []
        for client in clients:
            try:
                new = create_token(
                    project=project,
                    agent=agent or short_name(client),
                    expires_at=clock.now() + LASTS,
                    origin=Origin(client, platform.node()[:100], renews=True),
                )
            except CtxhubError as error:
                raise CommandError(f"{client}: {error.message} {error.hint}".strip()) from error
            row = new.row
            assert row.agent
            assert row.expires_at
            values = {"hub": hub, "project": project.slug, "client": client, "token": new.secret}
            values |= {"agent": row.agent.name, "expires": format_time(row.expires_at)}
            made.append(credential({**values, "renews": True}))
        return made

    return mint
