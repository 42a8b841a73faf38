"""The commands `connect`, `disconnect` and `token`."""

from __future__ import annotations

import argparse
import os
import sys

from ctxhub_client.access.credentials import Credential, NotStored, forget, is_of, keep, normal_hub, read_all
from ctxhub_client.access.enrolling import enrol
from ctxhub_client.access.requests import HubRefused, post, who
from ctxhub_client.access.resolving import repository_file
from ctxhub_client.connect.clients import connect_client, disconnect_client
from ctxhub_client.connect.found import CLIENTS, found_clients
from ctxhub_client.connect.line import Line, Scope
from ctxhub_client.install.program import Program
from ctxhub_client.settings import DEFAULT_HUB, address_problem
from ctxhub_client.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

    from ctxhub_client.connect.clients import Report

    Obtain = Callable[[str, list[str]], list[Credential]]


class Stopped(Exception):
    """Nothing was done, and why."""


def run_connect(arguments: list[str], obtain: Obtain | None = None, program: Program | None = None) -> int:
    """The exit code: 1 if something was not done.

    `obtain`: how tokens are got, else as the options say. `program`: what clients run, else this one.
    """
    options = parser_of("connect").parse_args(arguments)
    try:
        hub, clients = chosen_hub(options), chosen_clients(options)
        scope = Scope(options.user)
        tokens = tokens_for(hub, clients, options, obtain)
    except (Stopped, HubRefused, NotStored) as error:
        sys.stderr.write("{}\n".format(error))
        return 1
    program = program or Program()
    if program.is_archive and options.dry_run:
        program.will_unpack()
    elif program.is_archive:
        tell_line(program.unpack())
    reports = []
    for client in clients:
        report = connect_client(
            client,
            line_of(tokens[client], options, program),
            scope,
            hooks=options.hooks,
            rules=options.rules,
            dry_run=options.dry_run,
        )
        reports.append(report)
        tell_report(client, report)
    if options.http:
        variable = 'export CTXHUB_TOKEN="$({} token {})"'.format(program.shown(), " ".join(clients[:1]))
        tell_line("With --http a client reads the token from a variable where it starts: " + variable)
    if not options.dry_run:
        for each in {tokens[client].key: tokens[client] for client in clients}.values():
            tell_line("{} is connected to project {} at {}.".format(each.agent, each.project, each.hub))
        tell_line("`{} doctor` looks at all of it.".format(program.shown()))
        started = os.path.realpath(sys.argv[0])
        if program.path != started and started.endswith(".pyz"):
            tell_line("{} is not needed any more.".format(started))
    return int(not all(report.is_whole for report in reports))


def run_disconnect(arguments: list[str]) -> int:
    options = parser_of("disconnect").parse_args(arguments)
    try:
        clients = chosen_clients(options) if options.client else list(CLIENTS)
        scope = Scope(options.user)
        reports = {client: disconnect_client(client, scope, dry_run=options.dry_run) for client in clients}
        for client, report in reports.items():
            if report.is_changed or not report.is_whole or options.client:
                tell_report(client, report)
        if not any(report.is_changed for report in reports.values()):
            tell_line("Nothing to remove {}.".format("for the user" if options.user else "in " + scope.top))
        if options.revoke and not options.dry_run:
            revoke(clients, options)
    except (Stopped, NotStored) as error:
        sys.stderr.write("{}\n".format(error))
        return 1
    return int(not all(report.is_whole for report in reports.values()))


def run_token(arguments: list[str]) -> int:
    """Print the token that is stored for what the arguments name, for a variable."""
    from ctxhub_client.settings import name_connection, stored_token

    parser = argparse.ArgumentParser(
        prog="ctxhub token", description="Prints the token that connect has stored."
    )
    parser.add_argument("client", nargs="?", default="", choices=("", *CLIENTS))
    for name in ("hub", "project", "agent"):
        parser.add_argument("--" + name, default="")
    options = vars(parser.parse_args(arguments))
    os.environ.pop("CTXHUB_TOKEN", None)
    name_connection(**options)
    stored = stored_token()
    if stored is None:
        sys.stderr.write("There is no such token, or more than one: name --hub and --project.\n")
        return 1
    sys.stdout.write(stored.token + "\n")
    return 0


def parser_of(command: str) -> argparse.ArgumentParser:
    connects = command == "connect"
    parser = argparse.ArgumentParser(
        prog="ctxhub {}".format(command),
        description="Connects the coding clients of this machine with a hub, in this folder or everywhere."
        if connects
        else "Takes out of the clients' files what connect has written.",
    )
    parser.add_argument("hub", nargs="?", default="", help="its address: https://hub.example.com")
    parser.add_argument(
        "--client",
        action="append",
        default=[],
        metavar="NAME",
        help="{}; else those that are there".format(", ".join(CLIENTS)),
    )
    parser.add_argument("--user", action="store_true", help="for all your projects, not this folder alone")
    parser.add_argument("--dry-run", action="store_true", help="say what would be written")
    if not connects:
        parser.add_argument("--revoke", action="store_true", help="also the tokens, here and at the hub")
        return parser
    parser.add_argument("--project", default="", help="of the tokens that are stored already")
    parser.add_argument("--agent", default="", metavar="NAME", help="the name of the agent")
    parser.add_argument("--token", default="", help="instead of a code; - reads it from stdin")
    parser.add_argument("--http", action="store_true", help="the hub's address in the files, not the program")
    parser.add_argument("--no-hooks", dest="hooks", action="store_false")
    parser.add_argument(
        "--no-rules", dest="rules", action="store_false", help="no block in AGENTS.md and others"
    )
    parser.add_argument("--no-browser", dest="browser", action="store_false", help="open no page")
    return parser


def chosen_hub(options: argparse.Namespace) -> str:
    stored = {each.hub for each in read_all()}
    hub = (
        options.hub
        or text_of(repository_file(), "hub")
        or os.environ.get("CTXHUB_URL", "").strip()
        or (stored.pop() if len(stored) == 1 else "")
    )
    if not hub:
        raise Stopped("Which hub? Name its address: connect https://hub.example.com")
    if problem := address_problem(hub):
        raise Stopped(problem.replace("CTXHUB_URL", "The address").partition(" Until then")[0])
    return normal_hub(hub)


def chosen_clients(options: argparse.Namespace) -> list[str]:
    named = [name.strip() for given in options.client for name in given.split(",") if name.strip()]
    if not named or "all" in named:
        found = found_clients()
        if not found:
            raise Stopped("No client is found here. Name one: --client {}".format("|".join(CLIENTS)))
        return found
    clients = [next((each for each in CLIENTS if is_of(each, name.lower())), name) for name in named]
    unknown = [name for name in clients if name not in CLIENTS]
    if unknown:
        raise Stopped("There is no client {!r}; there are {}.".format(unknown[0], ", ".join(CLIENTS)))
    return list(dict.fromkeys(clients))


def tokens_for(
    hub: str, clients: list[str], options: argparse.Namespace, obtain: Obtain | None
) -> dict[str, Credential]:
    """A token for each client: one that is stored and good, else a new one, which is stored."""
    found = {client: usable for client in clients if (usable := stored_for(hub, client, options))}
    missing = [client for client in clients if client not in found]
    if missing and options.dry_run:
        named = {"project": options.project or "PROJECT", "agent": options.agent or "AGENT", "token": "-"}
        return {**{each: Credential(dict(named, hub=hub, client=each)) for each in missing}, **found}
    if missing:
        new = (obtain or obtain_by(options))(hub, missing)
        for each in new:
            each.hub = hub
        keep(new)
        found.update(zip(missing, new))
    if len(found) < len(clients):
        raise Stopped("The hub gave fewer tokens than there are clients. Run the command again.")
    return found


def stored_for(hub: str, client: str, options: argparse.Namespace) -> Credential | None:
    for each in read_all():
        is_named = (not options.project or each.project == options.project) and (
            not options.agent or each.agent.casefold() == options.agent.casefold()
        )
        if each.hub == hub and each.client == client and is_named and who(hub, each.token):
            return each
    return None


def obtain_by(options: argparse.Namespace) -> Obtain:
    """By the token that is given or in the environment, for its own address; else by a code."""

    def obtain(hub: str, clients: list[str]) -> list[Credential]:
        given = options.token
        if given == "-":
            given = sys.stdin.readline().strip()
        if not given and normal_hub(os.environ.get("CTXHUB_URL") or DEFAULT_HUB) == hub:
            given = os.environ.get("CTXHUB_TOKEN", "").strip()
        if not given or given.startswith("${"):
            return enrol(hub, clients, options.agent, options.browser)
        me = who(hub, given)
        if me is None:
            raise HubRefused("The hub at {} refuses the token.".format(hub))
        pinned = text_of(me, "agent") if me.get("pinned") is True else ""
        project = text_of(me, "project")
        return [
            Credential(
                {
                    "hub": hub,
                    "project": project,
                    "client": client,
                    "token": given,
                    "agent": pinned or options.agent or client.partition("-")[0],
                }
            )
            for client in clients
        ]

    return obtain


def line_of(token: Credential, options: argparse.Namespace, program: Program) -> Line:
    names = ["--hub", token.hub, "--project", token.project, "--agent", token.agent]
    url = token.hub + "/mcp" if options.http else ""
    return Line(program.words(sys.executable), names, url=url, agent=token.agent)


def revoke(clients: list[str], options: argparse.Namespace) -> None:
    """Give the tokens of these clients back, and forget them; with a hub named, those of it alone."""
    hub = normal_hub(options.hub) if options.hub else ""
    for each in read_all():
        if each.client not in clients or (hub and each.hub != hub):
            continue
        try:
            post(each.hub, "revoke", {}, each.token)
            tell_line("The token of {} at {} is revoked.".format(each.agent, each.hub))
        except HubRefused as error:
            tell_line("The token of {} is forgotten here, not revoked: {}".format(each.agent, error))
        forget([each])


def tell_report(client: str, report: Report) -> None:
    tell_line("{}:".format(client))
    for line in report.lines:
        tell_line("  " + line.replace("\n", "\n  "))


def tell_line(text: str) -> None:
    sys.stdout.write(text + "\n")
