from typing import Any

from ctxhub.core.kit.caller import Caller
from ctxhub.importers.free_context.importing import import_knowledge
from ctxhub.importers.free_context.reader import read_knowledge
from ctxhub.importers.shared.report import Report
from ctxhub.management.import_command import ImportCommand


class Command(ImportCommand):
    help = (
        "Take contexts, memories and their relationships from a database of Free Context; its file stays as"
        " it is."
    )
    path_help = "The file that DATABASE_PATH of Free Context names."

    def take(self, caller: Caller, options: dict[str, Any]) -> tuple[str, Report]:
        old = read_knowledge(options["path"])
        return "Free Context", import_knowledge(caller=caller, old=old, dry_run=options["dry_run"])
