"""The commands of the program, each imported when it is asked for."""

from __future__ import annotations

import _thread
import sys

from ctxhub_client.process import end_at_deadline, leave, log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

# They end in time with an answer or with none, whatever happens.
PUNCTUAL = ("hook", "codex-notify", "pre-commit")
# Those that ask the hub of one connection.
CONNECTED = (*PUNCTUAL, "mcp", "watch", "doctor", "upgrade")
# Not 2, with which a hook of Claude Code refuses what its agent is about to do.
UNKNOWN = 1


def main(arguments: list[str]) -> NoReturn:
    command = arguments[0] if arguments else "help"
    rest = take_names(arguments[1:], of_shell(command)) if command in CONNECTED else arguments[1:]
    if command in PUNCTUAL and not is_typed(arguments):
        answer_in_time(command, rest)
    sys.exit(run_command(command, rest))


def of_shell(command: str) -> str:
    """The client in whose shell a command runs that is of its window; "" for others."""
    if command != "watch":
        return ""
    from ctxhub_client.sessions import committing_session

    return committing_session()[0]


def take_names(arguments: list[str], client: str = "") -> list[str]:
    """The arguments without those that name the connection, as `connect` writes them into clients' lines."""
    from ctxhub_client.settings import name_connection

    named, rest = {}, list(arguments)
    for option in ("hub", "project", "agent"):
        if "--" + option in rest[:-1]:
            at = rest.index("--" + option)
            named[option] = rest[at + 1]
            del rest[at : at + 2]
    if not client and rest and not rest[0].startswith("-"):
        client = rest[0]
    name_connection(client=client, **named)
    return rest


def run() -> NoReturn:
    """The console script that pip installs."""
    main(sys.argv[1:])


def is_typed(arguments: list[str]) -> bool:
    """Whether a person has typed what only clients call."""
    return arguments == ["hook"] and bool(sys.stdin) and sys.stdin.isatty()


def answer_in_time(command: str, arguments: list[str]) -> NoReturn:
    _thread.start_new_thread(end_at_deadline, ())
    code, output = 0, b""
    try:
        if command == "hook":
            from ctxhub_client.hooks.run import run_hook

            output = run_hook(arguments[0] if arguments else "claude")
        elif command == "pre-commit":
            from ctxhub_client.pre_commit import guard_commit

            code = guard_commit(arguments)
        else:
            from ctxhub_client.hooks.turns import run_notification

            run_notification(arguments[-1])
    except BaseException as error:
        log("failed:", type(error).__name__, error)
    leave(code, output)


def run_command(command: str, arguments: list[str]) -> int:
    if command in ("install", "uninstall"):
        from ctxhub_client.install.command import run_installer

        return run_installer(command, arguments)
    if command in ("connect", "disconnect", "token"):
        from ctxhub_client.access import command as access

        run = {
            "connect": access.run_connect,
            "disconnect": access.run_disconnect,
            "token": access.run_token,
        }
        return run[command](arguments)
    if command == "upgrade":
        from ctxhub_client.install.upgrade import run_upgrade

        return run_upgrade()
    if command == "doctor":
        from ctxhub_client.doctor.run import run_doctor

        return run_doctor(arguments)
    if command == "mcp":
        from ctxhub_client.bridge.run import run_bridge

        run_bridge()
    if command == "watch":
        from ctxhub_client.watching.run import run_watch

        return run_watch(arguments)
    if command == "--version":
        from ctxhub_client.version import version

        sys.stdout.write("ctxhub {}\n".format(version()))
        return 0
    from ctxhub_client.help import HELP

    if command in ("-h", "--help", "help", "hook"):
        sys.stdout.write(HELP)
        return 0
    sys.stderr.write("There is no command {!r}.\n\n{}".format(command, HELP))
    return UNKNOWN
