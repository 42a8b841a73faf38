"""The access token of the ready lines: kept in var/, so that they can be printed again."""

import os
from pathlib import Path

from django.conf import settings

from ctxhub.core.models import Project
from ctxhub.core.services.access_tokens import create_token, find_token

NAME = "setup"


def kept_project() -> Project | None:
    """The project that the kept token opens, if it still does."""
    row = find_token(_kept())
    return row.project if row and row.is_usable else None


def ensure_token(project: Project) -> str:
    """The kept token; a new one where that is gone, revoked, expired, unknown here or of another project."""
    if kept_project() == project:
        return _kept()
    secret = create_token(project=project, name=NAME).secret
    _keep(secret)
    return secret


def _file() -> Path:
    return Path(settings.VAR_DIR) / "setup_token"


def _kept() -> str:
    return _file().read_text().strip() if _file().exists() else ""


def _keep(secret: str) -> None:
    new = _file().with_suffix(".new")
    new.unlink(missing_ok=True)
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secret)
    new.replace(_file())
