from typing import Any

from django.core.management.base import BaseCommand

from ctxhub.management.invisible_names import lines
from ctxhub.management.refusals import as_command_errors, refuse_unreachable

HOW = (
    "Each is still found by this very name, and by its id. What has a name beside its id is renamed in the "
    "admin; a decision, a template or a path is written anew without the character, and the old one deleted."
)


class Command(BaseCommand):
    help = "List the stored names that hold characters that nobody sees. Changes nothing."

    def handle(self, *args: Any, **options: Any) -> None:
        is_any = False
        with as_command_errors():
            refuse_unreachable()
            for line in lines():
                self.stdout.write(line)
                is_any = True
        self.stdout.write(HOW if is_any else "No stored name holds a character that nobody sees.")
