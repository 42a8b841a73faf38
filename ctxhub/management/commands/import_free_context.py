from typing import Any

from ctxhub.core.caller import Caller
from ctxhub.management.free_context.importing import import_knowledge
from ctxhub.management.free_context.reader import read_knowledge
from ctxhub.management.importing.command import ImportCommand
from ctxhub.management.importing.report import Report


class Command(ImportCommand):
    help = (
        "Take contexts, memories and their relationships from a database of Free Context; its file stays as"
        " it is."
    )
    path_help = "The file that DATABASE_PATH of Free Context names."

    def take(self, caller: Caller, options: dict[str, Any]) -> tuple[str, Report]:
        old = read_knowledge(options["path"])
        return "Free Context", import_knowledge(caller=caller, old=old, dry_run=options["dry_run"])
