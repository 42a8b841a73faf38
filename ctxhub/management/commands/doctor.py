import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from ctxhub import __version__
from ctxhub.core.text.invisible import marked_all
from ctxhub.management.doctor.checks import Found, examine
from ctxhub.management.doctor.findings import PROBLEM, UNKNOWN


class Command(BaseCommand):
    help = (
        "Examine the hub, change nothing, and say how to mend each fault. The exit code is 1 if there is one."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="For programs: check, state, text and fix.")
        parser.add_argument(
            "--workers", type=int, default=0, help="As serve is given; default: those that are connected."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        found = list(examine(workers=options["workers"]))
        self.stdout.write(_as_json(found) if options["json"] else _as_text(found))
        if any(each.state == PROBLEM for each in found):
            self.stdout.flush()
            sys.exit(1)


def _as_json(found: Sequence[Found]) -> str:
    states = Counter(each.state for each in found)
    told = {
        "version": __version__,
        "python": sys.version.split()[0],
        "problems": states[PROBLEM],
        "unknown": states[UNKNOWN],
        "findings": [asdict(each) for each in found],
    }
    return json.dumps(told, indent=2)


def _as_text(found: Sequence[Found]) -> str:
    lines = [f"ctxhub {__version__}", ""]
    for each in found:
        lines.append(f"{each.state:8} {each.check:14} {marked_all(each.text)}")
        if each.fix:
            lines.append(f"{'':23} -> {marked_all(each.fix)}")
    return "\n".join(lines)
