from typing import Any

from ctxhub.core.caller import Caller
from ctxhub.management.importing.command import ImportCommand
from ctxhub.management.importing.report import Report
from ctxhub.management.scratchpads.importing import import_pads
from ctxhub.management.scratchpads.reader import read_pads


class Command(ImportCommand):
    help = "Take workflows and their scratchpads from a database of Scratchpad MCP; its file stays as it is."
    path_help = "The file: scratchpad.db, unless SCRATCHPAD_DB_PATH names another."

    def take(self, caller: Caller, options: dict[str, Any]) -> tuple[str, Report]:
        old = read_pads(options["path"])
        return "Scratchpad MCP", import_pads(caller=caller, old=old, dry_run=options["dry_run"])
