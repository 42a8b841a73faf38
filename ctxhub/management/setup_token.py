"""Access tokens of the ready lines: one for each project, kept in var/ to be printed again."""

import os
import re
import stat
import tempfile
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError

from ctxhub.core.accounts.access_tokens import create_token, find_token
from ctxhub.core.accounts.names_of_people import find_free_name, is_name_of_person
from ctxhub.core.kit.sqlite_file import OWNERS_ALONE
from ctxhub.core.models import AccessToken, Project

NAME = "setup"
_TOKENS = re.compile(r"\s*(ctx_\S+\s*)*", re.ASCII)
MOST_KEPT = 200  # Far more than one machine sets up; older ones belong to databases long gone.


def refuse_foreign_tokens() -> None:
    """Raise CommandError if the file, which is written anew, holds anything but tokens. Changes nothing."""
    file = _file()
    if not os.path.lexists(file):
        return
    if not (file.is_file() and stat.S_ISREG(file.lstat().st_mode)) or not _TOKENS.fullmatch(_text()):
        raise CommandError(
            f"{file} is not the file of tokens that setup keeps, and would be replaced. "
            "Is CTXHUB_VAR_DIR right? Else move the file away."
        )


def kept_project() -> Project | None:
    """The project set up last whose kept token is still usable; None if there is none."""
    rows = (find_token(secret) for secret in _read_secrets())
    return next((row.project for row in rows if row and row.is_usable), None)


def ensure_token(project: Project) -> str:
    """The kept token of the project; a new one if none is kept or it is revoked or expired."""
    kept = {secret: find_token(secret) for secret in _read_secrets()}
    usable = (secret for secret, row in kept.items() if row and _is_printed(row) and row.project == project)
    chosen = next(usable, None) or create_token(project=project, name=_name(project)).secret
    others = [secret for secret, row in kept.items() if secret != chosen and _may_be_usable(row, project)]
    _write_secrets([chosen, *others])
    return chosen


def _name(project: Project) -> str:
    """Calls that name no agent speak as the name of the token, which is no person's."""
    return find_free_name(project.pk, NAME) if is_name_of_person(project.pk, NAME) else NAME


def _is_printed(row: AccessToken) -> bool:
    """Whether lines with the token are worth pasting: not if another has taken its place."""
    return row.is_usable and row.replaced_by_id is None


def _may_be_usable(row: AccessToken | None, project: Project) -> bool:
    """Whether to keep a secret. Unknown ones may belong to another database that DATABASE_URL names later."""
    return row is None or (row.is_usable and row.project != project)


def _file() -> Path:
    return Path(settings.VAR_DIR) / "setup_token"


def _read_secrets() -> list[str]:
    """Kept secrets, one per line, the one printed last first."""
    return _text().split() if _file().exists() else []


def _text() -> str:
    return _file().read_text(errors="replace")


def _write_secrets(secrets: list[str]) -> None:
    handle, draft = tempfile.mkstemp(prefix=f".{_file().name}.", dir=_file().parent)
    with open(handle, "w") as file:
        os.chmod(draft, OWNERS_ALONE)  # Independent of the umask.
        file.write("\n".join(secrets[:MOST_KEPT]))
    os.replace(draft, _file())
