"""The commands `install` and `uninstall`."""

from __future__ import annotations

import argparse
import os
import sys

from ctxhub_client.install.files import Refused
from ctxhub_client.install.installer import Installer
from ctxhub_client.install.program import Program
from ctxhub_client.install.unpacking import remove

TARGETS = ("claude-code", "cursor", "codex", "agents-md", "pre-commit")


def run_installer(command: str, arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="ctxhub {}".format(command))
    parser.add_argument("what", nargs="?", choices=TARGETS, help="without it: the program itself")
    parser.add_argument("--user", action="store_true", help="for all your projects (claude-code, codex)")
    parser.add_argument("--python", default="python" if os.name == "nt" else "python3", metavar="NAME")
    parser.add_argument("--file", default="AGENTS.md", metavar="NAME", help="of agents-md")
    parser.add_argument("--notify", action="store_true", help="codex: notify instead of hooks")
    parser.add_argument(
        "--approve", action="store_true", help="the hub's tools run unasked (claude-code, codex)"
    )
    parser.add_argument(
        "--wait", action="store_true", help="codex: starts with the hub's tools, or not at all"
    )
    options = parser.parse_args(arguments)
    try:
        is_removing = command == "uninstall"
        said = Installer(options, is_removing).run() if options.what else install_itself(is_removing)
    except (Refused, OSError) as error:
        sys.stderr.write("{}\n".format(error))
        return 1
    sys.stdout.write(said + "\n")
    return 0


def install_itself(is_removing: bool) -> str:
    if is_removing:
        path, was_there = remove()
        return "{}: {}.".format(path, "removed" if was_there else "nothing to remove")
    program = Program()
    said = program.unpack()
    return "{}\nIn a repository: {} install {}".format(said, program.shown(), "|".join(TARGETS))
