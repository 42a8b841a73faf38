"""Imports a file in a process of its own, and ends itself at a step: `killed FILE SLUG STEP`.

STEP: staged (all rows are written, nothing is seen), moving (some rows have moved), moved (all have, and
nothing is counted yet), shown (nothing is indexed yet).
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxhub.settings")
django.setup()

from ctxhub.core.models import Project  # noqa: E402
from ctxhub.core.transfer import importing, publishing  # noqa: E402


def die(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(path: str, slug: str, step: str) -> None:
    if step == "staged":
        vars(importing)["publish_rows"] = die
    elif step == "moving":
        publishing.MOST_MOVED = 0
        publishing.ROWS_AT_ONCE = 1
        move, moved = publishing._move, []

        def move_some(*arguments: Any, **options: Any) -> bool:
            moved.append(arguments)
            if len(moved) > 40:
                die()
            return move(*arguments, **options)

        publishing._move = move_some
    elif step == "moved":
        publishing.MOST_MOVED = 0
        publishing._end = die
    elif step == "shown":
        importing._index = die
    importing.import_file(Path(path), importing.Target(Project.objects.get(slug=slug)))


if __name__ == "__main__":
    main(*sys.argv[1:])
