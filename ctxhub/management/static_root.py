"""Collects the static files into `var/static`, if that is the hub's own folder."""

import os
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

MARK = ".ctxhub"
_OF_OLDER_VERSIONS = "ctxhub/admin.css"


def refuse_foreign_static_files() -> None:
    """Raise CommandError if the folder holds files that setup did not put there. Changes nothing."""
    folder = Path(settings.STATIC_ROOT)
    if not os.path.lexists(folder) or any((folder / name).is_file() for name in (MARK, _OF_OLDER_VERSIONS)):
        return
    if not folder.is_dir() or any(folder.iterdir()):
        raise CommandError(
            f"{folder} holds files that are not ctxhub's, and collecting the static files would overwrite "
            "some. Is CTXHUB_VAR_DIR right? Name a folder of the hub's own."
        )


def collect_static_files() -> None:
    folder = Path(settings.STATIC_ROOT)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).touch()
    call_command("collectstatic", verbosity=0, interactive=False)
