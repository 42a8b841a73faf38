import gc
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connections

from ctxhub import env
from ctxhub.core.accounts.access_tokens import clean_scopes
from ctxhub.core.accounts.names_of_people import refuse_name_of_person
from ctxhub.core.call_sessions import clean_call_session, window_name
from ctxhub.core.kit.caller import ALL_SCOPES, Caller, Window
from ctxhub.core.kit.errors import CtxhubError, NotAllowed
from ctxhub.core.kit.inputs import clean_agent
from ctxhub.core.kit.read_limit import serve_calls
from ctxhub.management.projects import find_project
from ctxhub.toolbox.tool_list import check_choice


class Command(BaseCommand):
    help = "Serve MCP to one agent over stdio, or to many over HTTP with --http."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", help="The project's slug; may be left out where there is only one.")
        parser.add_argument("--agent", default="", help="Who speaks; left out: system.")
        parser.add_argument("--scopes", default="", help="read,write,admin; left out: all of them.")
        parser.add_argument("--session", default="", help="The session that all calls belong to: id or name.")
        parser.add_argument("--surface", choices=("grouped", "flat"), default="grouped")
        parser.add_argument("--profile", choices=("all", "core"), default="all")
        parser.add_argument("--tools", default="", help="Only these tools, by name: decision,get")
        parser.add_argument(
            "--http", action="store_true", help="Serve /mcp alone over HTTP, with access tokens."
        )
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, **options: Any) -> None:
        from ctxhub.management.refusals import refuse_other_schema
        from ctxhub.mcp.requests import Surface

        only = tuple(name.strip() for name in options["tools"].split(",") if name.strip())
        surface = Surface(options["surface"], options["profile"], only)
        try:
            check_choice(surface.profile, surface.only)
            if options["http"]:
                _serve_http(surface, options)
                return
            serve_calls()
            named = find_session_name(options["session"])
            refuse_other_schema()
            caller = find_caller(options["project"], options["agent"], options["scopes"], named)
        except CtxhubError as error:
            raise CommandError(f"{error.message} {error.hint}".strip()) from error
        except DatabaseError as error:
            from ctxhub.management.refusals import unusable_database

            raise CommandError(unusable_database(error)) from error

        from ctxhub.mcp.stdio import serve_stdio

        gc.freeze()  # What exists now stays: no collection looks through it again.
        gc.enable()
        serve_stdio(caller, surface)


def find_session_name(option: str) -> str:
    """The session that `--session` or CTXHUB_SESSION names; "": one of this process."""
    if option:
        return clean_call_session(option, "--session")
    variable = env.text("CTXHUB_SESSION")
    return clean_call_session(variable, "CTXHUB_SESSION") if variable else ""


def own_window() -> Window:
    """The window of this process, named as by the hooks of the same Claude Code, or made up."""
    if client := env.text("CLAUDE_CODE_SESSION_ID"):
        return Window(name=window_name("claude", client), made_up=False)
    return Window()


def find_caller(project: str | None, agent: str, scopes: str, session: str = "") -> Caller:
    """The caller on stdio: whoever can run manage.py owns the hub. All scopes, unless `scopes` names some.

    The process is a window of its own: without a `session` its calls share one of theirs.
    """
    granted = clean_scopes(scopes.split(",")) if scopes else ALL_SCOPES
    caller = Caller(
        project=find_project(project),
        agent=clean_agent(agent, "--agent") if agent else "system",
        scopes=frozenset(granted),
        has_own_name=bool(agent),
        session=session,
        window=own_window(),
    )
    refuse_name_of_person(caller)
    return caller


def admission(slug: str | None, agent: str, scopes: str) -> Callable[[Caller], Caller]:
    """A function that narrows the token's caller to one project, some scopes, one agent."""
    project = find_project(slug) if slug else None  # Its id is another one once the database is replaced.
    granted = frozenset(clean_scopes(scopes.split(",")) if scopes else ALL_SCOPES)
    name = clean_agent(agent, "--agent") if agent else ""
    if project and name:
        refuse_name_of_person(Caller(project=project, agent=name))

    def admit(caller: Caller) -> Caller:
        if project and caller.project.slug != project.slug:
            raise NotAllowed(f"This server is for {project.slug!r} only.", hint="Use one of its tokens.")
        caller = replace(caller, scopes=caller.scopes & granted)
        return caller.named(name) if name and not caller.pinned else caller

    return admit


def _serve_http(surface: Any, options: Mapping[str, Any]) -> None:
    from ctxhub.management.ports import free_port
    from ctxhub.management.refusals import refuse_unmigrated

    if options["session"]:
        raise CommandError("--session is for stdio. Over HTTP each client sends the header Ctxhub-Session.")
    host, port = options["host"], options["port"]
    if not 0 <= port < 65_536:
        raise CommandError("--port is a number from 0 to 65535.")
    refuse_unmigrated()
    admit = admission(options["project"], options["agent"], options["scopes"])
    _run(host, free_port(host, port), surface, admit)


def _run(host: str, port: int, surface: Any, admit: Callable[[Caller], Caller]) -> None:
    # Not before it is clear that there is something to serve: all of Django is loaded here.
    import uvicorn

    from ctxhub.mcp.connections import SECONDS_KEPT_ALIVE
    from ctxhub.mcp.django_handler import DjangoHandler
    from ctxhub.mcp.fair_threads import settle
    from ctxhub.mcp.http import Dispatcher
    from ctxhub.metrics.counting import begin_counting
    from ctxhub.tracing import begin_tracing

    connections.close_all()
    app = Dispatcher(DjangoHandler().answer, mode="mcp", surface=surface, admit=admit)
    config = uvicorn.Config(app, host=host, port=port, log_config=None, timeout_keep_alive=SECONDS_KEPT_ALIVE)
    begin_counting()
    begin_tracing()
    settle()
    uvicorn.Server(config).run()
