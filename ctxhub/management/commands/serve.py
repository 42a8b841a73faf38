import os
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection, connections
from uvicorn.supervisors import Multiprocess

from ctxhub import env
from ctxhub.management.ports import free_port
from ctxhub.management.refusals import as_command_errors, is_about_writing, refuse_unmigrated
from ctxhub.management.unread_variables import unread_variables
from ctxhub.management.worker_sockets import HAS_SHARES, WorkerSocket
from ctxhub.mcp.connections import SECONDS_KEPT_ALIVE
from ctxhub.mcp.other_workers import Starts
from ctxhub.metrics.shared_folder import shared_folder

APPLICATION = "ctxhub.asgi:application"
SERVES = {"both": "admin, REST and MCP", "api": "admin and REST", "mcp": "MCP"}
THIS_MACHINE = {"localhost", "127.0.0.1", "[::1]", "::1"}
SECONDS_TO_FINISH = 5


class Command(BaseCommand):
    help = "Serve the hub over HTTP: admin and REST, and MCP at /mcp."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 listens on every address.")
        parser.add_argument("--port", type=int, default=8000, help="0 takes any that is free.")
        parser.add_argument("--workers", type=int, default=1, help="Processes; more than one for PostgreSQL.")
        parser.add_argument(
            "--mode", choices=tuple(SERVES), default="both", help="api: no MCP; mcp: only MCP."
        )
        parser.add_argument(
            "--setup", action="store_true", help="First set everything up, as setup --no-input does."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        host, workers, mode = options["host"], options["workers"], options["mode"]
        if workers < 1:
            raise CommandError("--workers is at least 1.")
        if not 0 <= options["port"] < 65_536:
            raise CommandError("--port is a number from 0 to 65535.")
        port = free_port(host, options["port"])
        if options["setup"]:
            self._set_up(_url(host, port))
        with as_command_errors():
            refuse_unmigrated()
        str(settings.SECRET_KEY)  # Created, if missing, before workers start.
        unread = [] if options["setup"] else unread_variables()  # Setup has told them.
        for warning in (*_warnings(host, port, workers, knows_port=options["setup"]), *unread):
            self.stderr.write(f"Note: {warning}")
        self.stdout.write(f"ctxhub serves {SERVES[mode]}. Ctrl-C stops it.")
        for label, url in _urls(host, port, mode):
            self.stdout.write(f"  {label:<6}{url}")
        self.stdout.flush()
        connections.close_all()
        os.environ["CTXHUB_MODE"] = mode
        _run(
            host=host,
            port=port,
            workers=workers,
            http="ctxhub.mcp.connections:LimitedProtocol",
            ws="none",
            log_config=None,
            server_header=False,
            proxy_headers=False,  # ctxhub/mcp/addresses.py reads them.
            timeout_graceful_shutdown=SECONDS_TO_FINISH,
            timeout_keep_alive=SECONDS_KEPT_ALIVE,
        )
        self.stdout.write("Stopped.")

    def _set_up(self, opened_at: str) -> None:
        """Run setup. A hub that was set up before is served even if nothing can be written now."""
        try:
            call_command("setup", no_input=True, opened_at=opened_at, stdout=self.stdout)
        except CommandError as error:
            if not is_about_writing(error):
                raise
            self.stderr.write(f"Note: setup could not write, the hub is served as it is. {error}")


def _run(**options: Any) -> None:
    with shared_folder(options["workers"]):
        _serve(**options)


def _serve(**options: Any) -> None:
    if options["workers"] == 1 or not HAS_SHARES:
        uvicorn.run(APPLICATION, **options)
        return
    starts = Starts.of(options["workers"])
    with WorkerSocket.bound(options["host"], options["port"], starts) as worker_socket:
        Multiprocess(uvicorn.Config(APPLICATION, **options), sockets=[worker_socket]).run()


def _urls(host: str, port: int, mode: str) -> list[tuple[str, str]]:
    url = _url(host, port)
    web = [("Admin", f"{url}/admin/"), ("REST", f"{url}/api/docs/")]
    return [*(web if mode != "mcp" else []), *([("MCP", f"{url}/mcp")] if mode != "api" else [])]


def _url(host: str, port: int) -> str:
    """The URL of the hub on this machine."""
    url_host = f"[{host}]" if ":" in host else "127.0.0.1" if host == "0.0.0.0" else host  # noqa: S104
    return f"http://{url_host}:{port}"


def _warnings(host: str, port: int, workers: int, *, knows_port: bool) -> list[str]:
    """Startup warnings. `knows_port`: setup has printed the ready lines with this port."""
    warnings = []
    if workers > 1 and connection.vendor == "sqlite":
        warnings.append(
            "on SQLite one process writes at a time, so more workers help reading only. "
            "For a team use PostgreSQL: docs/team-server.md."
        )
    if host not in THIS_MACHINE:
        if set(settings.ALLOWED_HOSTS) <= THIS_MACHINE:
            warnings.append(
                "other machines are refused until CTXHUB_ALLOWED_HOSTS holds the name they call this one by."
            )
        if not (settings.BEHIND_PROXY and settings.HTTPS):
            warnings.append(
                "tokens travel as plain text over http: put a proxy with TLS in front for anybody else."
            )
    base = urlsplit(settings.BASE_URL)
    is_announced = knows_port and not env.text("CTXHUB_BASE_URL")
    if base.hostname in THIS_MACHINE and base.port != port and not is_announced:
        warnings.append(
            f"the ready lines of setup name {settings.BASE_URL}; "
            f"with CTXHUB_BASE_URL=http://127.0.0.1:{port} they name this hub."
        )
    return warnings
