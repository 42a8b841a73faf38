from typing import Any

from ctxhub.core.kit.caller import Caller
from ctxhub.importers.scratchpads.importing import import_pads
from ctxhub.importers.scratchpads.reader import read_pads
from ctxhub.importers.shared.report import Report
from ctxhub.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Take workflows and their scratchpads from a database of Scratchpad MCP; its file stays as it is."
    path_help = "The file: scratchpad.db, unless SCRATCHPAD_DB_PATH names another."

    def take(self, caller: Caller, options: dict[str, Any]) -> tuple[str, Report]:
        old = read_pads(options["path"])
        return "Scratchpad MCP", import_pads(caller=caller, old=old, dry_run=options["dry_run"])
