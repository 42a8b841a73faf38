#!/usr/bin/env python
"""ctxhub's command line: `manage.py help` lists what it can do."""

import gc
import os
import sys

# They serve no pages: without the apps of the web they start in half the time.
WITHOUT_WEB = (
    "after_restore",
    "backup",
    "cleanup",
    "doctor",
    "export",
    "import",
    "predict",
    "reindex",
    "token",
)
STARTING = "Starting the hub: a few seconds, and the first time some more for its tables and static files.\n"


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxhub.settings")
    command = "".join(sys.argv[1:2])
    if sys.argv[1:] in (["--version"], ["version"]):  # Django would tell its own.
        from ctxhub import __version__

        sys.stdout.write(f"ctxhub {__version__}\n")
        return
    if command == "serve" and "--setup" in sys.argv:
        # At once: loading Django alone takes a second, and several on a busy machine.
        sys.stdout.write(STARTING)
        sys.stdout.flush()
    if command in WITHOUT_WEB or command.startswith("import_"):
        os.environ.setdefault("CTXHUB_WEB", "false")
    if command == "runmcp" and "--http" not in sys.argv:
        # An agent's own stdio server answers sooner, and in half the memory, without the web's apps.
        os.environ.setdefault("CTXHUB_WEB", "false")
        gc.disable()  # Until it serves: what a start makes stays, and looking through it takes long.

    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    from ctxhub.env import BadVariable

    try:
        execute_from_command_line(sys.argv)
    except BadVariable as error:
        if command == "doctor" and "--json" in sys.argv:
            _tell_as_json(str(error))
        sys.exit(f"ctxhub: {error}")
    except OperationalError as error:  # Of Django's own commands: those of ctxhub say it themselves.
        from ctxhub.management.refusals import unusable_database

        sys.exit(f"ctxhub: {unusable_database(error)}")


def _tell_as_json(problem: str) -> None:
    """What doctor says where no command can start."""
    import json

    fix = "Mend the variable, in .env or in the environment."
    finding = {"check": "settings", "state": "problem", "text": problem, "fix": fix}
    sys.stdout.write(json.dumps({"problems": 1, "unknown": 0, "findings": [finding]}, indent=2) + "\n")


if __name__ == "__main__":
    main()
