"""The access tokens of the ready lines: one of each project, kept in var/ to be printed again."""

import os
from pathlib import Path

from django.conf import settings

from ctxhub.core.accounts.services.access_tokens import create_token, find_token
from ctxhub.core.kit.sqlite_file import open_private
from ctxhub.core.models import AccessToken, Project

NAME = "setup"
MOST_KEPT = 200  # Far more than one machine sets up; those beyond are of databases long gone.


def kept_project() -> Project | None:
    """The project that was connected to last, among those whose kept token still opens them."""
    rows = (find_token(secret) for secret in _kept())
    return next((row.project for row in rows if row and row.is_usable), None)


def ensure_token(project: Project) -> str:
    """The kept token of the project; a new one where none is kept, or it is revoked or has expired."""
    kept = {secret: find_token(secret) for secret in _kept()}
    usable = (secret for secret, row in kept.items() if row and row.is_usable and row.project == project)
    chosen = next(usable, None) or create_token(project=project, name=NAME).secret
    others = [secret for secret, row in kept.items() if secret != chosen and _may_be_good(row, project)]
    _keep([chosen, *others])
    return chosen


def _may_be_good(row: AccessToken | None, project: Project) -> bool:
    """Unknown ones are perhaps of another database, which DATABASE_URL names at other times."""
    return row is None or (row.is_usable and row.project != project)


def _file() -> Path:
    return Path(settings.VAR_DIR) / "setup_token"


def _kept() -> list[str]:
    """One in each line, the one printed last first."""
    return _file().read_text().split() if _file().exists() else []


def _keep(secrets: list[str]) -> None:
    new = _file().with_suffix(".new")
    new.unlink(missing_ok=True)
    with open(open_private(new, os.O_WRONLY), "w") as file:
        file.write("\n".join(secrets[:MOST_KEPT]))
    new.replace(_file())
