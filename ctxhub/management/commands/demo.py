import time
from typing import Any

import anyio
from django.core.management.base import BaseCommand, CommandError

from ctxhub.management.scenarios.transcript import Unexpected
from ctxhub.management.temporary_server import temporary_server


class Command(BaseCommand):
    help = "Show agents that share decisions, lose a window and hear of changes, on a temporary hub."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        started = time.monotonic()
        self._write("Ada's client starts a server of its own (stdio), the others speak HTTP: one hub.")
        with temporary_server(project="demo") as hub:
            # Imported here, so that the hub starts meanwhile.
            from ctxhub.management.conversation import converse

            try:
                anyio.run(converse, hub, self._write)
            except* Unexpected as problems:
                reasons = "; ".join(map(str, _leaves(problems)))
                raise CommandError(f"Not as it should be. {reasons}") from problems
        self._write(f"\nAll as it should be, in {time.monotonic() - started:.1f} s.")

    def _write(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


def _leaves(error: BaseException) -> list[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for inner in error.exceptions for leaf in _leaves(inner)]
